"""The application: routes, problems, and the guard before them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.errors import LightproofError
from lightproof.service import schemas
from lightproof.service.bodies import bad_value
from lightproof.service.guard import Guard, log, problem_response
from lightproof.service.problems import ServiceProblem, problem_of
from lightproof.service.routes import ROUTERS, page
from lightproof.service.settings import Settings
from lightproof.service.state import Desk, request_of

ABOUT: Final = (
    "Face recognition that does not care about the light: enroll people with one photo, identify, verify, explain. "
    "Photos are sent as multipart forms or as base64 in JSON. What is wrong is answered as problem details (RFC 9457) "
    "with a stable `code`. There is no liveness test: a printed photo can pass."
)


def make_app(settings: Settings) -> FastAPI:
    """Make the application of a service.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    FastAPI
        An ASGI application, to be run in one process: those who work are started by it.
    """
    desk = Desk(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await desk.open()
        try:
            yield
        finally:
            desk.close()

    app = FastAPI(
        title="lightproof",
        version=version("lightproof"),
        description=ABOUT,
        openapi_url="/v1/openapi.json",
        # FastAPI's own pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.desk = desk
    for router in ROUTERS:
        app.include_router(router, prefix="/v1")
    app.include_router(page.router)
    _add_handlers(app)
    _describe(app, settings.token is not None)
    app.add_middleware(Guard, desk=desk)
    return app


def _add_handlers(app: FastAPI) -> None:
    @app.exception_handler(ServiceProblem)
    async def _known(call: Call, problem: ServiceProblem) -> Response:
        return problem_response(problem, call.scope)

    @app.exception_handler(LightproofError)
    async def _of_library(call: Call, problem: LightproofError) -> Response:
        found = problem_of(problem)
        if found.status >= 500:
            log.error("Request %s: %s", request_of(call.scope), problem)
        return problem_response(found, call.scope)

    @app.exception_handler(RequestValidationError)
    async def _not_legal(call: Call, problem: RequestValidationError) -> Response:
        return problem_response(bad_value(problem.errors()[0]), call.scope)

    @app.exception_handler(HTTPException)
    async def _of_router(call: Call, problem: HTTPException) -> Response:
        code = {404: "not_found", 405: "method_not_allowed"}.get(problem.status_code, "bad_request")
        detail = "The address and the method must be among those of /v1/openapi.json; got others."
        headers = {"Allow": _allowed(app, call.url.path)} if code == "method_not_allowed" else problem.headers
        return problem_response(ServiceProblem(code, detail, (), headers), call.scope)

    @app.exception_handler(ClientDisconnect)
    async def _gone(call: Call, _: ClientDisconnect) -> Response:
        problem = ServiceProblem("bad_request", "The body of the request must come to its end; got hung up.")
        return problem_response(problem, call.scope)


def _allowed(app: FastAPI, path: str) -> str:
    """Name the methods of an address; a router knows only those of the first route that fits."""
    for template, methods in app.openapi()["paths"].items():
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path):
            return ", ".join(sorted(method.upper() for method in methods))
    return "GET"


def _describe(app: FastAPI, guarded: bool) -> None:
    """Complete the OpenAPI document: the problem that routes refer to, and the token."""
    make = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = make()
            components = document["components"]["schemas"]
            problem = TypeAdapter(schemas.Problem).json_schema(ref_template="#/components/schemas/{model}")
            components |= problem.pop("$defs", {})
            components["Problem"] = problem
            for unused in ("HTTPValidationError", "ValidationError"):
                components.pop(unused, None)
            document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{"token": []}] if guarded else [{}, {"token": []}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
