"""Deniable for collecting: serves surveys, takes reports, keeps noisy responses only."""

from .app import create_app
from .store import Store

__all__ = ["Store", "create_app"]
