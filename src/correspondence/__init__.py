"""Correspondence analysis of anything: the maximally correlated functions of two variables.

Every public name is imported when it is first used; `__init__.pyi` says where each lives.
"""

from importlib.util import find_spec
from threading import RLock
from typing import Any

import lazy_loader

__version__ = "0.1.0"

_import_name, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
_import_lock = RLock()
try:
    _has_torch = find_spec("torch") is not None
except ImportError:  # from a finder that refuses it
    _has_torch = False
if not _has_torch:  # asking for PICE says what to install; lists of names leave it out
    __all__.remove("PICE")


def __getattr__(name: str) -> Any:
    with _import_lock:  # modules that import each other fail if two threads start at different ends
        return _import_name(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
