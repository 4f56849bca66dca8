"""A certificate authority of one's own, for trying TLS. In production cert-manager issues the certificates."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_NAME = "Prism NATS authority"
AUTHORITY_DAYS = 3_650
CERTIFICATE_DAYS = 365
# Clocks of two hosts differ.
BACKDATED = timedelta(hours=1)


class Pair:
    """A certificate and its private key."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self.certificate = certificate
        self.key = key

    @classmethod
    def from_pem(cls, certificate: bytes, key: bytes) -> "Pair":
        """Read both. Raises ValueError."""
        read = serialization.load_pem_private_key(key, password=None)
        if not isinstance(read, ec.EllipticCurvePrivateKey):
            raise ValueError("not a key of an elliptic curve")  # noqa: TRY004 - its value, not a programmer's mistake
        return cls(x509.load_pem_x509_certificate(certificate), read)

    @property
    def hosts(self) -> set[str]:
        """The names and addresses that the certificate is for."""
        found = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return {str(name.value) for name in found}

    @property
    def certificate_pem(self) -> str:
        """The certificate, in PEM format."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        """The key, in PEM format, not encrypted."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()


class Authority:
    """Issues certificates of servers and clients (RFC 5280), with keys on P-256."""

    def __init__(self, pair: Pair | None = None) -> None:
        """Make a new authority, or take up an existing one."""
        self.pair = pair or self._new_pair()

    @staticmethod
    def _new_pair() -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name(AUTHORITY_NAME)
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        builder = _builder(name, name, key, AUTHORITY_DAYS).add_extension(constraints, critical=True)
        usage = _usage(certificates=True)
        return Pair(builder.add_extension(usage, critical=True).sign(key, hashes.SHA256()), key)

    def issue(self, name: str, hosts: Sequence[str] = ()) -> Pair:
        """Returns a certificate of a client; with `hosts`, names or addresses, also of a server there."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(name), self.pair.certificate.subject, key, CERTIFICATE_DAYS)
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if hosts else [])]
        alternatives = x509.SubjectAlternativeName([_general_name(host) for host in hosts or (name,)])
        issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.pair.key.public_key())
        signed = (
            builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .add_extension(alternatives, critical=False)
            .add_extension(issuer_key, critical=False)
            .sign(self.pair.key, hashes.SHA256())
        )
        return Pair(signed, key)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=certificates,
        crl_sign=certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
