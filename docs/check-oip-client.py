"""Checks a served model with a client of the Open Inference Protocol that others wrote.

    pip install 'tritonclient[http]'
    lossep serve model.lossep &
    python docs/check-oip-client.py 127.0.0.1:8080 model

Metadata, health and inference are asked through tritonclient, with tensors as binary
data (its default) and as JSON, and in single precision. Every answer has to be that of
/v1/models/{name}/decide for the same rows, number for number.
"""

import json
import sys
import urllib.request
from importlib.metadata import version

import numpy as np
import tritonclient.http as oip
from tritonclient.utils import InferenceServerException

server, model = sys.argv[1:3]
checks = 0


def check(what, ok):
    global checks
    checks += 1
    if not ok:
        sys.exit(f"FAILED: {what}")


def v1(path, body=None):
    request = urllib.request.Request(
        f"http://{server}/v1/models/{model}{path}",
        json.dumps(body).encode() if body else None,
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def made_up(column, n):
    """n values for a column. Numbers are ones that single precision can hold too."""
    if column["kind"] != "numeric":
        known = column.get("categories") or [column["example"]]
        return [known[i % len(known)] for i in range(n)]
    mean, scale = column.get("mean", 0), column.get("scale", 1)
    spread = np.random.default_rng(1).permutation(np.linspace(-2, 2, n))
    return [float(np.float32(mean + scale * z)) for z in spread]


def tensors(columns, values, binary, number):
    inputs = []
    for c in columns:
        numeric = c["kind"] == "numeric"
        array = np.array(values[c["name"]], dtype=number if numeric else np.object_)
        kind = ("FP32" if number == np.float32 else "FP64") if numeric else "BYTES"
        tensor = oip.InferInput(c["name"], [len(array)], kind)
        tensor.set_data_from_numpy(array, binary_data=binary)
        inputs.append(tensor)
    return inputs


def text(tensor):
    return [x.decode() if isinstance(x, bytes) else x for x in tensor.ravel()]


def compare(what, result, decisions):
    for field in ("probability", "margin", "action_index"):
        check(f"{what}: {field}", result.as_numpy(field).ravel().tolist() == [d[field] for d in decisions])
    check(f"{what}: action", text(result.as_numpy("action")) == [d["action"] for d in decisions])
    check(f"{what}: expected", result.as_numpy("expected").tolist() == [d["expected"] for d in decisions])


columns = v1("")["columns"]
count = 40
values = {c["name"]: made_up(c, count) for c in columns}
rows = [{name: v[i] for name, v in values.items()} for i in range(count)]
other = "fn=1,fp=30"

client = oip.InferenceServerClient(server)
check("live", client.is_server_live())
check("ready", client.is_server_ready())
check("model ready", client.is_model_ready(model))
check("no such model", not client.is_model_ready("no-such-model"))
print("server  ", client.get_server_metadata())
metadata = client.get_model_metadata(model)
check("metadata names every column", sorted(t["name"] for t in metadata["inputs"]) == sorted(values))
print("model   ", metadata["name"], metadata["versions"], metadata["platform"])
print("outputs ", ", ".join(f"{t['name']} {t['datatype']} {t['shape']}" for t in metadata["outputs"]))

own, changed = v1("/decide", {"rows": rows})["decisions"], v1("/decide", {"rows": rows, "utility": other})["decisions"]
names = ("action", "action_index", "probability", "expected", "margin")
for binary in (True, False):
    for number in (np.float64, np.float32):
        what = f"{'binary' if binary else 'JSON'} {number.__name__}"
        inputs = tensors(columns, values, binary, number)
        compare(what, client.infer(model, inputs), own)
        compare(what + ", other costs", client.infer(model, inputs, parameters={"utility": other}), changed)
        asked = [oip.InferRequestedOutput(n, binary_data=binary) for n in names]
        compare(what + ", outputs named", client.infer(model, inputs, outputs=asked, request_id="r1"), own)

only = client.infer(model, inputs, outputs=[oip.InferRequestedOutput("action")], request_id="r2")
check("only what was asked for", only.as_numpy("probability") is None and only.get_response()["id"] == "r2")
for what, call in {
    "an input is missing": lambda: client.infer(model, inputs[1:]),
    "no such model": lambda: client.infer("no-such-model", inputs),
}.items():
    try:
        call()
        check(f"{what}: refused", False)
    except InferenceServerException as e:
        check(f"{what}: {e}", e.message())
        print("refused ", what + ":", e.message())

print(f"{checks} checks passed with tritonclient {version('tritonclient')}: {count} rows,",
      f"{sum(a['action'] != b['action'] for a, b in zip(own, changed))} of them decided otherwise under {other}")
