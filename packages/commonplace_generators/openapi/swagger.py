"""A document of Swagger 2.0 as one of OpenAPI 3.0: what differs between them, and nothing else.

References to `#/definitions/...` still lead there; those to parameters and responses are followed here, since a body
that a reference leads to becomes the operation's `requestBody`.
"""

from collections.abc import Iterable
from typing import Any

from commonplace.reference.model import METHODS

Json = dict[str, Any]
_JSON = ["application/json"]
_FORMS = ["application/x-www-form-urlencoded"]
_OF_PARAMETER = {"name", "in", "required", "description", "allowEmptyValue", "collectionFormat", "deprecated"}
"""What is said of a parameter itself; all else is said of its value."""
_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}


def as_openapi(root: Json) -> Json:
    """Return the document; what it has that is not of Swagger stays as it is."""
    paths = root.get("paths")
    security = root.get("securityDefinitions")
    schemes = {name: _scheme(one) for name, one in security.items()} if isinstance(security, dict) else {}
    return {
        **{key: value for key, value in root.items() if key not in ("swagger", "securityDefinitions")},
        "openapi": "3.0.3",
        "servers": _servers(root),
        "components": {"securitySchemes": schemes},
        "paths": {path: _item(one, root) for path, one in paths.items()} if isinstance(paths, dict) else paths,
    }


def _servers(root: Json) -> list[Json]:
    schemes = _texts(root.get("schemes"))
    scheme = "https" if "https" in schemes or not schemes else schemes[0]
    host, base = str(root.get("host") or ""), str(root.get("basePath") or "")
    return [{"url": f"{scheme}://{host}{base}" if host else base or "/"}]


def _item(item: Any, root: Json) -> Any:
    if not isinstance(item, dict):
        return item
    shared = _followed(item.get("parameters"), "parameters", root)
    changed = {
        method.lower(): _operation(item[method.lower()], shared, root) for method in METHODS if method.lower() in item
    }
    rest = [_parameter(one) for one in shared if one.get("in") not in ("body", "formData")]
    return {**item, **changed, **({"parameters": rest} if "parameters" in item else {})}


def _operation(operation: Any, shared: list[Any], root: Json) -> Any:
    if not isinstance(operation, dict):
        return operation
    own = _followed(operation.get("parameters"), "parameters", root)
    names = {(one.get("in"), one.get("name")) for one in own}
    every = [*own, *(one for one in shared if (one.get("in"), one.get("name")) not in names)]
    found = {
        key: value for key, value in operation.items() if key not in ("parameters", "consumes", "produces", "schemes")
    }
    if isinstance(operation.get("parameters"), list):
        found["parameters"] = [_parameter(one) for one in own if one.get("in") not in ("body", "formData")]
    elif "parameters" in operation:
        found["parameters"] = operation["parameters"]
    consumes = _texts(operation.get("consumes", root.get("consumes")))
    if body := _body(every, consumes):
        found["requestBody"] = body
    produces = _texts(operation.get("produces", root.get("produces"))) or _JSON
    if isinstance(operation.get("responses"), dict):
        found["responses"] = {
            status: {**one, "content": {kind: {"schema": one["schema"]} for kind in produces[:3]}}
            if "schema" in one
            else one
            for status, given in operation["responses"].items()
            for one in _followed([given], "responses", root)
        }
    return found


def _body(parameters: Iterable[Json], consumes: list[str]) -> Json | None:
    """The body, or the fields of a form as those of one object."""
    fields: dict[str, Any] = {}
    required: list[str] = []
    file = False
    for one in parameters:
        if one.get("in") == "body":
            content = {kind: {"schema": one.get("schema", {})} for kind in consumes or _JSON}
            return {"description": one.get("description"), "required": one.get("required"), "content": content}
        if one.get("in") == "formData" and isinstance(one.get("name"), str):
            fields[one["name"]] = {**_schema(one), "description": one.get("description")}
            required += [one["name"]] if one.get("required") is True else []
            file = file or one.get("type") == "file"
    if not fields:
        return None
    kinds = [one for one in consumes if "form" in one] or (["multipart/form-data"] if file else _FORMS)
    schema = {"type": "object", "properties": fields, "required": required}
    return {"required": bool(required), "content": {kind: {"schema": schema} for kind in kinds}}


def _parameter(one: Any) -> Any:
    if not isinstance(one, dict) or "$ref" in one or "schema" in one:
        return one
    own = {key: value for key, value in one.items() if key in _OF_PARAMETER - {"collectionFormat"}}
    return {**own, "explode": one.get("collectionFormat") == "multi", "schema": _schema(one)}


def _schema(one: Json) -> Json:
    told = {key: value for key, value in one.items() if key not in _OF_PARAMETER and not key.startswith("x-")}
    return told | ({"type": "string", "format": "binary"} if told.get("type") == "file" else {})


def _followed(given: Any, kind: str, root: Json) -> list[Json]:
    """Mappings of a list, with those of the document that references of it lead to."""
    known = root.get(kind)
    found = []
    for one in given if isinstance(given, list) else []:
        ref = one.get("$ref") if isinstance(one, dict) else None
        if isinstance(ref, str) and ref.startswith(f"#/{kind}/") and isinstance(known, dict):
            name = ref.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            found.append(known.get(name, one))
        else:
            found.append(one)
    return [one for one in found if isinstance(one, dict)]


def _scheme(one: Any) -> Any:
    if not isinstance(one, dict):
        return one
    if one.get("type") == "basic":
        return {"type": "http", "scheme": "basic", "description": one.get("description")}
    if one.get("type") == "oauth2":
        flow = str(one.get("flow") or "")
        return {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): one} if flow else {}}
    return one


def _texts(given: Any) -> list[str]:
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
