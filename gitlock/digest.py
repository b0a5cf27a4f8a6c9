"""SHA-256 without ``hashlib``, whose import loads OpenSSL and costs a third of a bare interpreter."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha256 import sha256  # the builtin one, up to Python 3.11
    except ImportError:
        try:
            from _sha2 import sha256  # and since 3.12
        except ImportError:
            from hashlib import sha256


def sha256_hex(data: bytes) -> str:
    """The digest as 64 hexadecimal digits."""
    return sha256(data).hexdigest()
