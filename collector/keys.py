"""Researchers' keys: how they are made, how they open a session, and the limit on wrong ones."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections import deque
from datetime import timedelta

from flask import Flask, Request, current_app, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from .served import served
from .store import Store, fold

PREFIX = "dnb_"
LONGEST_NAME = 64

#: How long a log-in lasts, however much it is used.
LIFETIME = timedelta(hours=12)

#: Wrong keys in a minute after which log-in has to wait.
MOST_WRONG = 10
MINUTE = 60.0


def issue(store: Store, name: str, once: bool = False) -> str:
    """Make a key of 192 random bits and keep its hash. Nothing can show the key again."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise ValueError(f"name: must be 1 to {LONGEST_NAME} printable characters")
    key = PREFIX + secrets.token_urlsafe(24)
    store.add_key(name, key, once)
    return key


class Attempts:
    """Wrong keys of the last minute. No address is kept, so everybody's count together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong: deque[float] = deque(maxlen=MOST_WRONG)

    def wrong(self) -> None:
        with self._lock:
            self._wrong.append(time.monotonic())

    def wait(self) -> int:
        """Seconds until the next key may be tried; 0 if it may be now."""
        with self._lock:
            if len(self._wrong) < MOST_WRONG:
                return 0
            return max(0, int(self._wrong[0] + MINUTE - time.monotonic() + 1))


class _Sessions(SecureCookieSessionInterface):
    """Cookies that go over https only, wherever the page itself came over https.

    Respondents have no session; not even looking for one makes the intake faster.
    """

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        return None if request.path.startswith("/s/") else super().open_session(app, request)

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def set_up(app: Flask, store: Store) -> None:
    """Sessions signed with a secret of the store, so that every worker knows them."""
    app.secret_key = store.secret("session", os.urandom(32))
    app.session_interface = _Sessions()
    app.config.update(
        SESSION_COOKIE_NAME="deniable",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        PERMANENT_SESSION_LIFETIME=LIFETIME,
        SESSION_REFRESH_EACH_REQUEST=False,
    )
    app.extensions["deniable-attempts"] = Attempts()


def attempts() -> Attempts:
    found: Attempts = current_app.extensions["deniable-attempts"]
    return found


def log_in(key: str) -> bool:
    """Open a session if the key is one."""
    if served().store.use_key(key, log_in=True) is None:
        attempts().wrong()
        return False
    session.clear()
    session.permanent = True
    session["key"] = fold(key)
    session["until"] = time.time() + LIFETIME.total_seconds()
    return True


def log_out() -> None:
    session.clear()


def logged_in() -> str | None:
    """The name of the key that opened this session, if both are still good."""
    if "key" not in session or session["until"] < time.time():
        return None
    return served().store.key_name(session["key"])


def bearer() -> str | None:
    """The name of the key that the request carries, if it carries a good one.

    Wrong ones are not limited: no one guesses 192 bits, and a limit without addresses would
    let anybody lock everybody out.
    """
    given = request.authorization
    if given is None or given.type != "bearer" or given.token is None:
        return None
    return served().store.use_key(given.token)


def csrf_token() -> str:
    """What a form of this session must send along."""
    if "csrf" not in session:
        session["csrf"] = secrets.token_urlsafe(16)
    token: str = session["csrf"]
    return token


def csrf_good() -> bool:
    given = request.form.get("csrf", "")
    return secrets.compare_digest(given.encode(), session.get("csrf", "").encode()) and given != ""
