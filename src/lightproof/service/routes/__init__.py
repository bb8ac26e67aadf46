"""What can be asked over HTTP, a page for each kind of thing."""

from lightproof.service.routes import asking, exchange, gallery, page, people, photos

ROUTERS = (gallery.router, people.router, photos.router, asking.router, exchange.router)
"""Those under ``/v1``."""

__all__ = ["ROUTERS", "page"]
