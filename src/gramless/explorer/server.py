"""The server of the page, for this machine only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from gramless.explorer.policy import forbid_elsewhere
from gramless.explorer.raster import warm_up
from gramless.explorer.table import Table, read_table
from gramless.explorer.workbench import Workbench

ADDRESS = "127.0.0.1"


def make_app(
    data: Any, label: Any = None, *, labels: Any = None, columns: Any = None, key: str | None = None
) -> Callable[[], Any]:
    """A function that makes a page for each visitor, as ``panel.serve`` takes it; the rows are shared.

    Parameters
    ----------
    data : Table, path, array, data frame or source
    label : str or int, optional
        Column of labels.
    labels : array-like of shape (n,), optional
        Labels that are not a column of the data.
    columns : list of str or int, optional
        Which columns; all by default.
    key : str, optional
        Which array, in a file that has several.

    Returns
    -------
    callable
        Without arguments; returns a Panel layout.
    """
    _require_panel()
    from gramless.explorer.page import Page

    table = data if isinstance(data, Table) else read_table(data, label, labels=labels, columns=columns, key=key)
    threading.Thread(target=warm_up, args=[table.coloring], daemon=True).start()
    return lambda: Page(Workbench(table)).layout()


def serve(
    data: Any,
    port: int = 0,
    *,
    show: bool = True,
    label: Any = None,
    labels: Any = None,
    columns: Any = None,
    key: str | None = None,
    wait: bool = True,
) -> Any:
    """Serve the explorer at ``http://127.0.0.1:port``: no other machine can reach it.

    Parameters
    ----------
    data : Table, path, array, data frame or source
        What :func:`gramless.open_source` opens.
    port : int, default=0
        0: one that is free.
    show : bool, default=True
        Open a browser.
    label : str or int, optional
        Column of labels.
    labels : array-like of shape (n,), optional
        Labels that are not a column of the data.
    columns : list of str or int, optional
        Which columns; all by default.
    key : str, optional
        Which array, in a file that has several.
    wait : bool, default=True
        Serve until interrupted. False: return the server, which its ``io_loop`` runs.

    Returns
    -------
    bokeh.server.server.Server
        ``.port`` is its port, ``.stop()`` stops it.

    Notes
    -----
    The server binds to the loopback address only, and accepts websockets from pages of that address only: a page of
    another site that is open in the same browser cannot use the server.
    """
    panel = _require_panel()
    if wait:  # only if the process is ours: scripts come from this server, even if BOKEH_RESOURCES differs
        from bokeh.settings import settings as bokeh_settings

        bokeh_settings.resources = "server"
    app = make_app(data, label, labels=labels, columns=columns, key=key)
    socket_port = port or _free_port()
    origins = [f"{host}:{socket_port}" for host in (ADDRESS, "localhost")]
    settings = {"address": ADDRESS, "websocket_origin": origins, "title": "gramless explorer", "show": show}
    try:
        server = panel.io.server.get_server(app, port=socket_port, **settings)
    except OSError as error:
        raise OSError(f"port={port} cannot be used ({error.strerror}); pass another, or 0 for any free port") from error
    forbid_elsewhere(server)
    print(f"http://{ADDRESS}:{server.port}", flush=True)
    if wait:
        print("Press Ctrl-C to stop.", flush=True)
        server.start()
        try:
            server.io_loop.start()
        except KeyboardInterrupt:
            server.stop()
    return server


def _free_port() -> int:
    """A free port: the origin of the websocket has to name the port before the server is made."""
    import socket

    with socket.socket() as trial:
        trial.bind((ADDRESS, 0))
        return int(trial.getsockname()[1])


def _require_panel() -> Any:
    try:
        import datashader  # noqa: F401
        import panel
    except ImportError as error:
        raise ImportError(
            f"the explorer needs {error.name}, which is not installed; in the folder of gramless, run: "
            'pip install ".[explorer]"'
        ) from error
    return panel
