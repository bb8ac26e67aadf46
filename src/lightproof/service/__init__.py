"""The service: an HTTP API and a page on a gallery. Needs the extra ``web``.

The only room that knows HTTP. :func:`lightproof.service.app.make_app` makes the application, :mod:`lightproof.service.server`
runs it. Nothing is imported here: the processes that work do without most of it.
"""
