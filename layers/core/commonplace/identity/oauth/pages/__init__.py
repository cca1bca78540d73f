"""Pages of the authorization server."""
