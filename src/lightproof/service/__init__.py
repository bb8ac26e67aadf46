"""The service: an HTTP API and a page on a gallery. Needs the extra ``web``.

Only this package knows HTTP. :func:`lightproof.service.application.make_app` makes the application, and
:mod:`lightproof.service.server` runs it. Nothing is imported here, because workers need little of it.
"""
