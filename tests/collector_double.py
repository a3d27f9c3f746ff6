"""A small HTTP server on loopback that can misbehave as scripted, as real networks do."""

from __future__ import annotations

import json
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from respondent import Survey

from .support import EXAMPLES


class Collector(ThreadingHTTPServer):
    """Serves one survey and keeps what arrives; ``replies`` scripts trouble."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.published = Survey.load(EXAMPLES / "coin.toml").publish()
        self.bodies: list[bytes] = []
        self.headers: list[Message] = []
        self.paths: list[str] = []
        self.replies: list[int | str] = []
        self.redirect = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/s/coin"


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_GET(self) -> None:
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", self.server.redirect)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.reply(200 if self.path.startswith("/s/coin/") else 404, self.server.published)

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers.append(self.headers)
        self.server.paths.append(self.path)
        step = self.server.replies.pop(0) if self.server.replies else 201
        if step == "hang up":
            self.connection.close()
        elif step == "time out":
            time.sleep(1.5)
        elif step == "redirect":
            self.send_response(307)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            assert isinstance(step, int)
            self.reply(step, json.dumps({"problem": "said by the collector"}).encode())

    def reply(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
