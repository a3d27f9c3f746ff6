"""The description of the HTTP interface, OpenAPI 3.1: every request and every reply."""

from __future__ import annotations

from functools import cache
from typing import Any

from .downloads import FORMATS, MEDIA
from .intake import INVITATION
from .results import HIGHEST, LOWEST, MOST_CONDITIONS, SMALLEST_GROUP
from .store import ARMS, STATES

IDENTIFIER = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$"}
FINGERPRINT = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
TEXT = {
    "description": "Words, or words by language.",
    "anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}],
}
COUNT = {"type": "integer", "minimum": 0}
NUMBER_OR_NULL = {"type": ["number", "null"]}


def _object(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _map(values: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


VALUE_NUMBERS = ("noisy", "estimate", "se", "low", "high", "feasible")

SCHEMAS: dict[str, Any] = {
    "Problem": _object(problem={"type": "string"}),
    "Survey": _object(
        id=IDENTIFIER,
        title=TEXT,
        state={"enum": [*STATES, "not-yet"]},
        epsilon={"type": "number", "description": "What all responses of a person add up to."},
        version=FINGERPRINT | {"description": "The version that is served now."},
        versions=_map(_object(**{arm: COUNT for arm in ARMS}))
        | {"description": "Reports by fingerprint and arm."},
        invitations=_object(issued=COUNT, spent=COUNT),
    ),
    "Surveys": _object(surveys=_list(_ref("Survey"))),
    "NewState": _object(state={"enum": list(STATES)}),
    "State": _object(state={"enum": [*STATES, "not-yet"]}),
    "Value": _object(
        answer={"type": "string"},
        **{name: NUMBER_OR_NULL for name in VALUE_NUMBERS},
        flag={"type": "string"},
    ),
    "Estimate": _object(
        question=IDENTIFIER,
        n=COUNT,
        not_asked=COUNT,
        epsilon={"type": "number"},
        delta={"type": "number"},
        level={"type": "number"},
        method={"type": "string"},
        target={"type": "string"},
        fingerprint=FINGERPRINT,
        values=_list(_ref("Value")),
    ),
    "Estimates": _object(
        survey=IDENTIFIER,
        version=FINGERPRINT,
        arm={"enum": list(ARMS)},
        level={"type": "number"},
        where=_map({"type": "string"}),
        estimates=_list(_ref("Estimate")),
        left_out=_map({"type": "string"})
        | {"description": "Questions without an estimate, and why."},
    ),
    "Counts": _object(
        survey=IDENTIFIER,
        version=FINGERPRINT,
        arm={"enum": list(ARMS)},
        where=_map({"type": "string"}),
        counts=_map(_map(COUNT)) | {"description": "By question and response."},
    ),
    "Batch": _object(stored=COUNT, new=COUNT),
    "Report": _object(
        survey=FINGERPRINT,
        key={"type": "string", "pattern": "^[0-9a-f]{32}$"},
        responses=_list({"type": "integer", "minimum": 0}),
    )
    | {
        "description": "In this order of fields, without white space but the padding of "
        "responses: see section 5 of docs/spec.md. Other spellings are refused."
    },
    "Published": {"type": "object", "description": "See section 4 of docs/spec.md."},
    "Stored": _object(stored={"const": True}),
}

# Parameters


def _query(name: str, schema: Any, description: str, **more: Any) -> dict[str, Any]:
    about = {"name": name, "in": "query", "required": False, "description": description}
    return about | {"schema": schema} | more


def _path(name: str, description: str) -> dict[str, Any]:
    about = {"name": name, "in": "path", "required": True, "description": description}
    return about | {"schema": IDENTIFIER}


def _format(what: str) -> dict[str, Any]:
    forms = FORMATS[what]
    return _query("format", {"enum": list(forms), "default": forms[0]}, "How the reply is written.")


SURVEY = _path("id", "The survey's id.")
LEVEL = _query(
    "level",
    {"type": "number", "minimum": LOWEST, "maximum": HIGHEST, "default": 0.95},
    "Level of the intervals.",
)
ARM = _query(
    "arm",
    {"enum": list(ARMS), "default": "device"},
    "Reports from devices, from people with coins of their own, or sent in test mode.",
)
VERSION = _query(
    "version", FINGERPRINT, "Fingerprint of a version; the one served now if left out."
)
QUESTION = _query("question", IDENTIFIER, "This question only.")
WHERE = _query(
    "where",
    {
        "type": "array",
        "items": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}:.+$"},
        "maxItems": MOST_CONDITIONS,
        "uniqueItems": True,
    },
    "question:option of a question that is not protected; may be repeated for other "
    f"questions. Groups below {SMALLEST_GROUP} reports are refused, also where they would "
    "follow by subtraction.",
    style="form",
    explode=True,
)

# Replies

JSON = MEDIA["json"]

PROBLEMS = {
    400: "The request is wrong; the problem says how.",
    401: "There is no good key.",
    403: "An invitation is missing, unknown or used.",
    404: "There is no such thing.",
    405: "This address does not know the method.",
    409: "There are no such reports, or so few that people could be singled out.",
    410: "The survey is closed, or not open yet.",
    413: "The body is too large.",
    415: "The body is of another media type.",
    503: "Nothing could be read or stored just now, or the survey is paused: try the same again.",
}

FILES = {form: media.partition(";")[0] for form, media in MEDIA.items()}
BINARY = ("parquet", "pdf", "png")


def _replies(*problems: int, status: int = 200, **content: Any) -> dict[str, Any]:
    """Replies of an operation: what goes well, and the problems there may be."""
    good = {FILES[form]: {"schema": schema} for form, schema in content.items()}
    said = {JSON: {"schema": _ref("Problem")}}
    return {str(status): {"description": "As asked.", "content": good}} | {
        str(code): {"description": PROBLEMS[code], "content": said}
        for code in sorted({*problems, 405, 503})
    }


def _files(what: str) -> dict[str, Any]:
    """The formats of a kind of file but JSON, whose schema is its own."""
    forms = [form for form in FORMATS[what] if form != "json"]
    return {form: {} if form in BINARY else {"type": "string"} for form in forms}


def _get(name: str, summary: str, parameters: list[Any], replies: dict[str, Any]) -> dict[str, Any]:
    return _operation("get", name, summary, parameters, replies)


def _operation(
    method: str,
    name: str,
    summary: str,
    parameters: list[Any],
    replies: dict[str, Any],
    **more: Any,
) -> dict[str, Any]:
    about = {"operationId": name, "summary": summary, "parameters": parameters}
    return {method: about | {"responses": replies} | more}


def _researchers() -> dict[str, Any]:
    """Operations that need a key."""
    return {
        "/api/surveys": _get(
            "surveys", "Every survey.", [], _replies(400, 401, json=_ref("Surveys"))
        ),
        "/api/surveys/{id}": _get(
            "survey", "One survey.", [SURVEY], _replies(400, 401, 404, json=_ref("Survey"))
        ),
        "/api/surveys/{id}/state": _operation(
            "put",
            "setState",
            "Open, pause or close a survey.",
            [SURVEY],
            _replies(400, 401, 404, 413, 415, json=_ref("State")),
            requestBody={"required": True, "content": {JSON: {"schema": _ref("NewState")}}},
        ),
        "/api/surveys/{id}/estimates": _get(
            "estimates",
            "Estimates with intervals, of all questions or of one.",
            [SURVEY, _format("estimates"), QUESTION, LEVEL, ARM, VERSION, WHERE],
            _replies(400, 401, 404, 409, json=_ref("Estimates"), **_files("estimates")),
        ),
        "/api/surveys/{id}/counts": _get(
            "counts",
            "How often each response was reported.",
            [SURVEY, _format("counts"), ARM, VERSION, WHERE],
            _replies(400, 401, 404, 409, json=_ref("Counts"), **_files("counts")),
        ),
        "/api/surveys/{id}/reports": _get(
            "reports",
            "Every noisy report.",
            [SURVEY, _format("reports"), ARM, VERSION],
            _replies(400, 401, 404, **_files("reports")),
        ),
        "/api/surveys/{id}/figures/{question}": _get(
            "figure",
            "A figure of a question's estimates.",
            [
                SURVEY,
                _path("question", "The question's id."),
                _format("figure"),
                LEVEL,
                ARM,
                VERSION,
                WHERE,
            ],
            _replies(400, 401, 404, 409, **_files("figure")),
        ),
        "/api/surveys/{id}/published": _get(
            "published",
            "The published survey, byte for byte.",
            [SURVEY, VERSION],
            _replies(400, 401, 404, json=_ref("Published")),
        ),
        "/api/surveys/{id}/codebook": _get(
            "codebook",
            "Questions, laws, weights, and what responses mean.",
            [SURVEY, VERSION],
            _replies(400, 401, 404, md={"type": "string"}),
        ),
        "/api/surveys/{id}/methods": _get(
            "methods",
            "A methods paragraph with references.",
            [SURVEY, LEVEL, VERSION],
            _replies(400, 401, 404, 409, md={"type": "string"}),
        ),
        "/api/surveys/{id}/recompute": _get(
            "recompute",
            "A Python script that recomputes every estimate from downloaded reports.",
            [SURVEY, LEVEL, VERSION],
            _replies(400, 401, 404, py={"type": "string"}),
        ),
        "/api/surveys/{id}/batch": _operation(
            "post",
            "batch",
            "Take in reports that were collected elsewhere, one on each line; all or none.",
            [SURVEY, ARM, VERSION],
            _replies(400, 401, 404, 413, 415, json=_ref("Batch")),
            requestBody={
                "required": True,
                "description": "Up to 16 MiB. The same reports may be sent again.",
                "content": {FILES["jsonl"]: {"schema": {"type": "string"}}},
            },
        ),
    }


def _everybody() -> dict[str, Any]:
    """Operations that need no key."""
    report = {"required": True, "content": {JSON: {"schema": _ref("Report")}}}
    invitation = {
        "name": INVITATION,
        "in": "header",
        "required": False,
        "description": "A single-use token, where the survey needs one.",
        "schema": {"type": "string"},
    }
    return {
        "/api/openapi.json": _get(
            "openapi", "This document.", [], _replies(400, json={"type": "object"})
        ),
        "/s/{id}/survey.json": _get(
            "servedSurvey",
            "The published survey that is served now.",
            [SURVEY],
            _replies(404, json=_ref("Published")),
        ),
        "/s/{id}/reports": _operation(
            "post",
            "report",
            "Send a report; the reply comes once it is stored for good.",
            [SURVEY, invitation],
            _replies(400, 403, 404, 410, 413, 415, status=201, json=_ref("Stored")),
            requestBody=report,
        ),
        "/s/{id}/test/reports": _operation(
            "post",
            "testReport",
            "Send a report that never counts.",
            [SURVEY],
            _replies(400, 404, 413, 415, status=201, json=_ref("Stored")),
            requestBody=report,
        ),
    }


def _secured(paths: dict[str, Any], security: list[dict[str, list[str]]]) -> dict[str, Any]:
    return {
        path: {method: operation | {"security": security} for method, operation in item.items()}
        for path, item in paths.items()
    }


@cache
def document() -> dict[str, Any]:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Deniable's collector",
            "version": "1",
            "description": "Noisy reports in, estimates out. Researchers' requests need a key: "
            "Authorization: Bearer <key>.",
        },
        "servers": [{"url": "/"}],
        "paths": _secured(_researchers(), [{"key": []}]) | _secured(_everybody(), []),
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }
