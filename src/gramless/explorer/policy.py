"""The content security policy of the page: it loads nothing from other servers."""

from __future__ import annotations

from typing import Any

#: Bokeh writes its scripts and styles into the page and compiles functions from strings, hence the 'unsafe' ones.
POLICY = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; object-src 'none'; frame-ancestors 'none'"


def forbid_elsewhere(server: Any) -> None:
    """Send :data:`POLICY` with every response of `server`: browsers then refuse to load from any other address.

    Parameters
    ----------
    server : bokeh.server.server.Server
    """
    from tornado.web import OutputTransform

    class WithPolicy(OutputTransform):
        def transform_first_chunk(self, status_code: int, headers: Any, chunk: bytes, finishing: bool) -> Any:
            headers["Content-Security-Policy"] = POLICY
            return status_code, headers, chunk

    server._tornado.add_transform(WithPolicy)
