"""A throw-away certificate authority and servers whose TLS is broken in one way each."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key; ``sign`` makes what it issues."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def context(self, folder: Path) -> ssl.SSLContext:
        """Return a server's settings that present this certificate alone."""
        path = folder / f"{self.certificate.serial_number}.pem"
        plain = serialization.NoEncryption()
        key = self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        path.write_bytes(key + self.pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def issue(
    name: str, issuer: Issued | None = None, *, issuer_name: str = "", at: str = "", ends: datetime.timedelta = DAY
) -> Issued:
    """Return a certificate: of a host where ``at`` says where its issuer is, else of an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    given = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer_name or name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(issuer.certificate.subject if issuer else given)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - 3 * DAY)
        .not_valid_after(NOW + ends)
        .add_extension(x509.BasicConstraints(ca=not at, path_length=None), critical=True)
    )
    if at:
        access = x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier(at))
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        builder = builder.add_extension(x509.AuthorityInformationAccess([access]), critical=False)
    return Issued(builder.sign((issuer or Issued(None, key)).key, hashes.SHA256()), key)  # type: ignore[arg-type]


class Authority:
    """Issues server contexts for ``host``; ``cafile`` trusts its root."""

    def __init__(self, folder: Path, host: str) -> None:
        self.host = host
        self.root = trustme.CA()
        self._folder = folder
        self.cafile = str(folder / "root.pem")
        self.root.cert_pem.write_to_path(self.cafile)

    def server(self, certificate: trustme.LeafCert | None = None) -> ssl.SSLContext:
        """Return a context that presents ``certificate``, by default a good one."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        (certificate or self.root.issue_cert(self.host)).configure_cert(context)
        return context

    def expired(self) -> ssl.SSLContext:
        return self.server(self.root.issue_cert(self.host, not_before=NOW - 30 * DAY, not_after=NOW - DAY))

    def not_yet_valid(self) -> ssl.SSLContext:
        return self.server(self.root.issue_cert(self.host, not_before=NOW + DAY, not_after=NOW + 30 * DAY))

    def wrong_name(self) -> ssl.SSLContext:
        return self.server(self.root.issue_cert("other.test"))

    def untrusted_root(self) -> ssl.SSLContext:
        return self.server(trustme.CA().issue_cert(self.host))

    def incomplete_chain(self) -> ssl.SSLContext:
        leaf = self.root.create_child_ca().issue_cert(self.host)
        path = self._folder / "leaf.pem"
        path.write_bytes(leaf.private_key_pem.bytes() + leaf.cert_chain_pems[0].bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def self_signed(self) -> ssl.SSLContext:
        return issue(self.host).context(self._folder)

    def old_protocol(self) -> ssl.SSLContext:
        context = self.server()
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        return context

    def refuses_the_name(self) -> ssl.SSLContext:
        context = self.server()
        context.sni_callback = lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        return context

    def wants_a_client_certificate(self) -> ssl.SSLContext:
        context = self.server()
        context.verify_mode = ssl.CERT_REQUIRED
        self.root.configure_trust(context)
        return context


@contextlib.contextmanager
def blocking_server(context: ssl.SSLContext) -> Iterator[int]:
    """Serve TLS on plain sockets in a thread, as most servers do: a refused handshake ends with its alert.

    What the client sends meanwhile is read to its end: a socket closed before would be reset, and the alert lost.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), plain:
                plain.settimeout(5)
                with context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) as secure:
                    try:
                        secure.do_handshake()
                        secure.recv(65536)
                    except ssl.SSLError:
                        secure.shutdown(socket.SHUT_WR)
                        while secure.recv(65536):
                            pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


CERTIFICATES: dict[str, tuple[Callable[[Authority], ssl.SSLContext], str]] = {
    "expired": (Authority.expired, "certificate has expired"),
    "not yet valid": (Authority.not_yet_valid, "not yet valid"),
    "wrong name": (Authority.wrong_name, "Hostname mismatch"),
    "self-signed": (Authority.self_signed, "self-signed certificate"),
    "untrusted root": (Authority.untrusted_root, "unable to get local issuer certificate"),
    "incomplete chain": (Authority.incomplete_chain, "unable to get local issuer certificate"),
}
HANDSHAKES: dict[str, tuple[Callable[[Authority], ssl.SSLContext], str]] = {
    "old protocol": (Authority.old_protocol, "protocol version"),
    "refuses the name": (Authority.refuses_the_name, "unrecognized name"),
    "wants a client certificate": (Authority.wants_a_client_certificate, "certificate required"),
}
"""How each kind of broken TLS is made, and words of the reason."""
