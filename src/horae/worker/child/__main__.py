"""Loads the app, says hello, and runs jobs until told to quit."""

import asyncio
import logging
import os
import signal
import socket
import sys

from horae import failpoints
from horae.client.app import App
from horae.client.loading import load_app
from horae.model.errors import HoraeError
from horae.worker import tree
from horae.worker.board import Board
from horae.worker.child.crowd import Crowd
from horae.worker.child.desk import Desk
from horae.worker.child.output import Output
from horae.worker.child.solo import Solo
from horae.worker.messages import Hello, TaskInfo


def main() -> None:
    spec, socket_fd, board_fd, nonce = sys.argv[1:]
    sys.argv[1:] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    failpoints.arm(os.environ)
    tree.become_subreaper()
    desk = Desk(socket.socket(fileno=int(socket_fd)), Board(int(board_fd)))
    output = Output(nonce, desk.board)
    app = _load(spec, desk)
    # After the import, so that an app that sets up logging itself has its way.
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    if desk.begin().concurrent:
        asyncio.run(Crowd(app.tasks, desk, output).run())
    else:
        Solo(app.tasks, desk, output).run()
    tree.end_descendants(desk.pid)


def _load(spec: str, desk: Desk) -> App:
    try:
        app = load_app(spec)
    except HoraeError as error:
        desk.send(Hello([], error.detail))
        raise SystemExit(1) from error
    desk.send(Hello([TaskInfo(task.definition, task.is_async) for task in app.tasks.values()]))
    return app


if __name__ == "__main__":
    main()
