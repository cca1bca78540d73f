"""An HTTPS server on loopback that says exactly what a test wants, byte by byte, under a throwaway authority."""

import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from threading import Thread

HOST, BESIDE = "app.example", "garden.example.org"
"""Names that the certificate is for."""

Talk = Callable[[ssl.SSLSocket, bytes], None]
"""Answers a request, given its head."""


@cache
def _authority() -> tuple[bytes, bytes]:
    """The certificate of the authority, and a certificate for HOST with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.now(UTC)
    root, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def certificate(*subjects: str, key: ec.EllipticCurvePrivateKey, authority: bool) -> x509.Certificate:
        told = (
            x509.CertificateBuilder()
            .subject_name(name(subjects[0]))
            .issuer_name(name("throwaway authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(one) for one in subjects]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root.public_key()), critical=False)
        )
        if authority:
            usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
            told = told.add_extension(usage, critical=True)
        return told.sign(root, hashes.SHA256())

    pem = serialization.Encoding.PEM
    key = leaf.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    authority = certificate("throwaway authority", key=root, authority=True).public_bytes(pem)
    return authority, certificate(HOST, BESIDE, key=leaf, authority=False).public_bytes(pem) + key


def trusting() -> ssl.SSLContext:
    """A client's context as usual, but for whom it trusts."""
    return ssl.create_default_context(cadata=_authority()[0].decode())


class Server:
    """Where it listens, and the heads of the requests it has had."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heads: list[bytes] = []
        self.names: list[str] = []
        self.connections = 0


def bundle(folder: Path) -> Path:
    """A file with a certificate for HOST and BESIDE, and its key."""
    file = folder / "server.pem"
    file.write_bytes(_authority()[1])
    return file


@contextmanager
def serving(talk: Talk, folder: Path) -> Iterator[Server]:
    """Serves one connection after another until the block ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(bundle(folder))
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1])

    def note_name(_: ssl.SSLObject | ssl.SSLSocket, name: str | None, __: ssl.SSLContext) -> None:
        server.names.append(name or "")

    context.sni_callback = note_name
    thread = Thread(target=_serve, args=(listener, context, server, talk), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


def _serve(listener: socket.socket, context: ssl.SSLContext, server: Server, talk: Talk) -> None:
    while True:
        try:
            raw, _ = listener.accept()
        except OSError:
            return
        server.connections += 1
        raw.settimeout(5)
        with suppress(OSError), raw, context.wrap_socket(raw, server_side=True) as connection:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(4_096)
                if not piece:
                    break
                head += piece
            server.heads.append(head)
            talk(connection, head)


def saying(*pieces: bytes) -> Talk:
    """Sends these and hangs up."""

    def talk(connection: ssl.SSLSocket, _: bytes) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return talk


def stalling(*pieces: bytes) -> Talk:
    """Sends these, then nothing until the client hangs up."""

    def talk(connection: ssl.SSLSocket, _: bytes) -> None:
        saying(*pieces)(connection, b"")
        connection.recv(1)

    return talk


def trickling(start: bytes, drop: bytes = b"x") -> Talk:
    """Sends a beginning, and then byte after byte until the client hangs up."""

    def talk(connection: ssl.SSLSocket, _: bytes) -> None:
        connection.sendall(start)
        while True:  # until the client hangs up, and sending fails
            connection.sendall(drop)

    return talk


def answer(
    body: bytes, *, status: str = "200 OK", media_type: str = "application/json", headers: Sequence[str] = ()
) -> bytes:
    """A whole answer of the usual kind."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
