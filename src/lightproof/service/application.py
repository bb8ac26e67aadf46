"""The application: routes, answers to errors, and the guard before them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.errors import LightproofError
from lightproof.service import openapi, people_routes, question_routes, service_routes
from lightproof.service.bodies import bad_value
from lightproof.service.guard import Guard, log, problem_response
from lightproof.service.problems import ServiceProblem, problem_of
from lightproof.service.settings import Settings
from lightproof.service.state import ServiceState, request_id

DESCRIPTION: Final = (
    "Face recognition that does not care about the light: enroll people with one photo, identify, verify, explain. "
    "Photos are sent as multipart forms or as base64 in JSON. Errors are answered as problem details (RFC 9457) "
    "with a stable `code`. There is no liveness test: a printed photo can pass."
)


def make_app(settings: Settings) -> FastAPI:
    """Make the application of a service, to be run in one process: it starts its workers itself."""
    state = ServiceState(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await state.open()
        try:
            yield
        finally:
            state.close()

    app = FastAPI(
        title="lightproof",
        version=version("lightproof"),
        description=DESCRIPTION,
        openapi_url="/v1/openapi.json",
        # FastAPI's own pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.service = state
    for router in (
        service_routes.gallery_router,
        people_routes.people_router,
        people_routes.photo_router,
        question_routes.router,
        service_routes.exchange_router,
    ):
        app.include_router(router, prefix="/v1")
    app.include_router(service_routes.page_router)
    _add_handlers(app)
    openapi.complete(app, guarded=settings.token is not None)
    app.add_middleware(Guard, state=state)
    return app


def _add_handlers(app: FastAPI) -> None:
    @app.exception_handler(ServiceProblem)
    async def _service_problem(call: Call, problem: ServiceProblem) -> Response:
        return problem_response(problem, call.scope)

    @app.exception_handler(LightproofError)
    async def _library_error(call: Call, error: LightproofError) -> Response:
        problem = problem_of(error)
        if problem.status >= 500:
            log.error("Request %s: %s", request_id(call.scope), error)
        return problem_response(problem, call.scope)

    @app.exception_handler(RequestValidationError)
    async def _invalid_parameter(call: Call, error: RequestValidationError) -> Response:
        return problem_response(bad_value(error.errors()[0]), call.scope)

    @app.exception_handler(HTTPException)
    async def _no_route(call: Call, error: HTTPException) -> Response:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_request")
        detail = "The address and the method must be among those of /v1/openapi.json; got others."
        headers = {"Allow": _allowed_methods(app, call.url.path)} if code == "method_not_allowed" else error.headers
        return problem_response(ServiceProblem(code, detail, (), headers), call.scope)

    @app.exception_handler(ClientDisconnect)
    async def _hung_up(call: Call, _: ClientDisconnect) -> Response:
        problem = ServiceProblem("bad_request", "The body of the request must be complete; got a closed connection.")
        return problem_response(problem, call.scope)


def _allowed_methods(app: FastAPI, path: str) -> str:
    """Name the methods of an address; a router knows only those of the first route that fits."""
    for template, methods in app.openapi()["paths"].items():
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path):
            return ", ".join(sorted(method.upper() for method in methods))
    return "GET"
