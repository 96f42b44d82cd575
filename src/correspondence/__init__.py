"""Correspondence analysis of anything: the maximally correlated functions of two variables.

Every public name is imported when it is first used; `__init__.pyi` says where each lives.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
