"""Ethereum over plain JSON-RPC: roles, signatures of contracts, names."""
