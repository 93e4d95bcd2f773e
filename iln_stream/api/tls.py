"""TLS, and mutual TLS."""

import ssl

from iln_stream.api.settings import ApiSettings
from iln_stream.settings import SettingsError


def tls_context(settings: ApiSettings) -> ssl.SSLContext | None:
    """Return the server's context; None: plain HTTP.

    Raises
    ------
    SettingsError
        When a file is missing or not valid.

    """
    if settings.tls_certificate is None:
        for name in ("tls_key", "tls_client_ca"):
            if getattr(settings, name) is not None:
                raise SettingsError(f"{name}: needs tls_certificate, too")
        return None
    if settings.tls_key is None:
        raise SettingsError("tls_certificate: needs tls_key, too")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        # An empty password: OpenSSL must not ask for one on the terminal.
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, password="")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"tls_certificate = {str(settings.tls_certificate)!r}, tls_key = "
            f"{str(settings.tls_key)!r}: {error}"
        ) from None
    if settings.tls_client_ca is not None:
        try:
            context.load_verify_locations(settings.tls_client_ca)
        except OSError as error:
            raise SettingsError(
                f"tls_client_ca = {str(settings.tls_client_ca)!r}: {error}"
            ) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context
