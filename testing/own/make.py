"""Writes operations.jsonl: reference values of the operations that the golden data do not have.

Functions of numbers are computed by mpmath with 60 digits from the very inputs and rounded once; the rest is exact
or a plain loop. The format is that of the golden data.
"""

import itertools
import json
import math

import mpmath as mp
import numpy as np

mp.mp.dps = 60
OUT = open("operations.jsonl", "w")
COUNT = itertools.count()
NUMPY = {"f32": np.float32, "f64": np.float64, "c32": np.complex64, "c64": np.complex128}
TOL = {"f32": 1e-5, "c32": 1e-5, "f64": 1e-13, "c64": 1e-13}
PART = {"f32": np.float32, "c32": np.float32, "f64": np.float64, "c64": np.float64}


def number(x, dtype):
    if dtype in ("i32", "i64"):
        return int(x)
    if dtype == "bool":
        return bool(x)
    if dtype in ("c32", "c64"):
        return [number(x.real, PART_NAME[dtype]), number(x.imag, PART_NAME[dtype])]
    x = PART[dtype](x)
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    return float(str(x)) if dtype == "f32" else float(x)


PART_NAME = {"c32": "f32", "c64": "f64"}


def array(shape, dtype, data):
    return {"shape": list(shape), "dtype": dtype, "data": [number(x, dtype) for x in data]}


def record(op, inputs, expected, cotangent=None, grads=None, attrs=None, tags=(), tol=None):
    tol = tol if tol is not None else TOL.get(expected["dtype"], 0.0)
    OUT.write(json.dumps({
        "id": f"own-{next(COUNT):04}", "op": op, "attrs": attrs or {}, "tags": list(tags), "inputs": inputs,
        "expected": expected, "cotangent": cotangent, "grads": grads, "tol": {"rtol": tol, "atol": tol * 1e-3},
    }) + "\n")


def rounded(values, dtype):
    """The inputs as mpmath sees them: already of the dtype."""
    return [mp.mpmathify(NUMPY[dtype](v).item()) for v in values]


def entrywise(op, f, df, values, dtype, tags=()):
    xs = rounded(values, dtype)
    cts = [((-1) ** i) * (1 + i % 3) * 0.5 for i in range(len(xs))]
    if dtype.startswith("c"):
        cts = [complex(ct, 0.25) for ct in cts]
    grads = [mp.conj(df(x)) * ct for x, ct in zip(xs, cts)]
    shape, cast = [len(xs)], complex if dtype.startswith("c") else float
    out = [array(shape, dtype, [cast(v) for v in list_]) for list_ in (map(f, xs), grads)]
    record(op, [array(shape, dtype, values)], out[0], array(shape, dtype, cts), [out[1]], tags=tags)


UNIT = [-0.99, -0.5, -0.1234, 0.25, 0.7, 0.9999]
WIDE = [-30.0, -3.5, -0.75, 0.125, 1.0, 2.5, 20.0]
TINY = [1e-300, -1e-300, 1e-20, -1e-20, 1e-8, -1e-8]
PLANE = [0.3 + 0.4j, -0.7 + 1.2j, 2.5 - 0.5j, -1.5 - 2.5j, 1e-3 + 1e-3j, 0.9 - 0.1j]

square = lambda x: x * x
ROOT = lambda x: mp.sqrt(1 - x) * mp.sqrt(1 + x)
FUNCTIONS = {
    "asin": (mp.asin, lambda x: 1 / ROOT(x), UNIT),
    "acos": (mp.acos, lambda x: -1 / ROOT(x), UNIT),
    "atan": (mp.atan, lambda x: 1 / (1 + square(x)), WIDE),
    "sinh": (mp.sinh, mp.cosh, WIDE),
    "cosh": (mp.cosh, mp.sinh, WIDE),
}
for name, (f, df, values) in FUNCTIONS.items():
    entrywise(name, f, df, values, "f64", ["ordinary"])
    entrywise(name, f, df, values, "f32", ["ordinary"])
    entrywise(name, f, df, PLANE, "c64", ["ordinary", "complex"])
    entrywise(name, f, df, PLANE, "c32", ["ordinary", "complex"])
    entrywise(name, f, df, TINY, "f64", ["extreme"])
FAR = [1e20 + 1e20j, -1e160 + 1e155j, 3e5 - 1e-3j, 1e-200 + 1e-220j]
for name in ("asin", "acos", "atan"):
    entrywise(name, *FUNCTIONS[name][:2], FAR, "c64", ["extreme", "complex"])
entrywise("atan", *FUNCTIONS["atan"][:2], [1e10, -1e16, 1e100, 1e150], "f64", ["extreme"])

cbrt = lambda x: mp.sign(x) * mp.cbrt(abs(x))
dcbrt = lambda x: 1 / (3 * square(cbrt(x)))
erfc = mp.erfc
derfc = lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
for dtype in ("f64", "f32"):
    entrywise("cbrt", cbrt, dcbrt, [-27.0, -2.0, 0.001, 0.5, 8.0, 1e6], dtype, ["ordinary"])
    entrywise("erfc", erfc, derfc, [-3.0, -0.5, 0.25, 1.0, 2.5, 4.0], dtype, ["ordinary"])
entrywise("cbrt", cbrt, dcbrt, [1e300, -1e-300, 5e-324, 1.7976931348623157e308], "f64", ["extreme"])
entrywise("erfc", erfc, derfc, [6.0, 10.0, 20.0, 26.0, -10.0, 1e-20, 1e10, -1e300], "f64", ["extreme"])

INF, NAN = math.inf, math.nan
ROUND = {"floor": math.floor, "ceil": math.ceil, "round": round}
for name, f in ROUND.items():
    for dtype in ("f64", "f32"):
        xs = [-2.5, -1.5, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.5, 2.5, 3.0, 1e30, INF, -INF, NAN]
        exact = lambda x: math.copysign(f(x), x) if math.isfinite(x) and f(x) == 0 else float(f(x)) if math.isfinite(x) else x
        n = [len(xs)]
        record(name, [array(n, dtype, xs)], array(n, dtype, map(exact, xs)), array(n, dtype, [1.0] * n[0]),
               [array(n, dtype, [0.0] * n[0])], tags=["ordinary", "special"], tol=0.0)
SPECIAL = {
    "asin": [0.0, -0.0, 2.0, INF, NAN, 1.0], "acos": [1.0, -1.0, 2.0, -INF, NAN, 0.0],
    "atan": [0.0, -0.0, INF, -INF, NAN, 1.0], "sinh": [0.0, -0.0, INF, -INF, NAN, 1e3],
    "cosh": [0.0, -0.0, INF, -INF, NAN, 1e3], "cbrt": [0.0, -0.0, INF, -INF, NAN, -1.0],
    "erfc": [0.0, -0.0, INF, -INF, NAN, 100.0],
}
with np.errstate(all="ignore"):
    for name, xs in SPECIAL.items():
        numpy = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
                 "cbrt": np.cbrt, "erfc": np.vectorize(math.erfc, otypes=[float])}[name]
        record(name, [array([6], "f64", xs)], array([6], "f64", numpy(np.array(xs))), tags=["special"])

for dtype in ("f64", "f32"):
    ys, xs = [1.0, 2.0, -1.5, -0.25, 0.0, 3.0], [0.5, -1.0, -2.0, 4.0, 1.0, 0.0]
    cts = [1.0, -0.5, 2.0, 1.5, 1.0, 0.25]
    my, mx = rounded(ys, dtype), rounded(xs, dtype)
    n = [len(xs)]
    record("atan2", [array(n, dtype, ys), array(n, dtype, xs)], array(n, dtype, [float(mp.atan2(y, x)) for y, x in zip(my, mx)]),
           array(n, dtype, cts), [array(n, dtype, [float(ct * x / (x * x + y * y)) for ct, y, x in zip(cts, my, mx)]),
                                  array(n, dtype, [float(-ct * y / (x * x + y * y)) for ct, y, x in zip(cts, my, mx)])],
           tags=["ordinary"])
edge = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
pairs = list(itertools.product(edge, edge))
n = [len(pairs)]
record("atan2", [array(n, "f64", [y for y, _ in pairs]), array(n, "f64", [x for _, x in pairs])],
       array(n, "f64", [math.atan2(y, x) for y, x in pairs]), tags=["special"])
far = [(1e200, 2e200), (-1e-200, 3e-200), (1e300, -1e-300)]
my, mx = rounded([y for y, _ in far], "f64"), rounded([x for _, x in far], "f64")
record("atan2", [array([3], "f64", [y for y, _ in far]), array([3], "f64", [x for _, x in far])],
       array([3], "f64", [float(mp.atan2(y, x)) for y, x in zip(my, mx)]), array([3], "f64", [1.0] * 3),
       [array([3], "f64", [float(x / (x * x + y * y)) for y, x in zip(my, mx)]),
        array([3], "f64", [float(-y / (x * x + y * y)) for y, x in zip(my, mx)])], tags=["extreme"])
record("atan2", [array([1], "f64", [0.0])] * 2, array([1], "f64", [0.0]), array([1], "f64", [1.0]),
       [array([1], "f64", [0.0])] * 2, tags=["zeros"])

for part, whole in (("f64", "c64"), ("f32", "c32")):
    re, im, cts = [1.0, -2.5, 0.0], [0.5, 0.0, -3.0], [1 + 2j, -0.5j, 0.25 + 0j]
    record("complex", [array([3], part, re), array([3], part, im)], array([3], whole, [complex(*z) for z in zip(re, im)]),
           array([3], whole, cts), [array([3], part, [z.real for z in cts]), array([3], part, [z.imag for z in cts])],
           tags=["ordinary"], tol=0.0)

A, B = [True, True, False, False], [True, False, True, False]
for name, f in (("and", lambda a, b: a and b), ("or", lambda a, b: a or b)):
    record(name, [array([4], "bool", A), array([4], "bool", B)], array([4], "bool", map(f, A, B)), tags=["ordinary"])
record("not", [array([2], "bool", [True, False])], array([2], "bool", [False, True]), tags=["ordinary"])
record("is_finite", [array([4], "f64", [1.0, INF, -INF, NAN])], array([4], "bool", [True, False, False, False]),
       tags=["special"])
record("is_finite", [array([3], "c64", [1 + 1j, complex(0, INF), complex(NAN, 0)])],
       array([3], "bool", [True, False, False]), tags=["special", "complex"])
record("convert", [array([4], "f64", [-2.7, 0.0, 1e30, NAN])], array([4], "i64", [-2, 0, 2**63 - 1, 0]),
       attrs={"dtype": "i64"}, tags=["special"])
record("convert", [array([2], "c64", [1.5 + 2j, -0.5j])], array([2], "f64", [1.5, 0.0]), array([2], "f64", [2.0, -1.0]),
       [array([2], "c64", [2 + 0j, -1 + 0j])], attrs={"dtype": "f64"}, tags=["ordinary", "complex"])
record("stop_gradient", [array([2], "f64", [1.0, -2.0])], array([2], "f64", [1.0, -2.0]), array([2], "f64", [1.0, 1.0]),
       [array([2], "f64", [0.0, 0.0])], tags=["ordinary"])
record("constant", [], array([], "f64", [2.5]), attrs={"value": 2.5}, tags=["ordinary"])
record("size", [], array([], "i64", [7]), attrs={"size": 7, "dtype": "i64"}, tags=["ordinary"])
record("iota", [], array([2, 3], "f64", [0, 0, 1, 1, 2, 2]), attrs={"shape": [2, 3], "axis": 1, "dtype": "f64"},
       tags=["ordinary"])

record("scatter", [array([3], "f64", [1.0, 2.0, 3.0]), array([3], "i64", [2, 0, 2]), array([3], "f64", [10.0, 20.0, 30.0])],
       array([3], "f64", [20.0, 2.0, 30.0]), array([3], "f64", [1.0, 2.0, 3.0]),
       [array([3], "f64", [0.0, 2.0, 0.0]), None, array([3], "f64", [0.0, 1.0, 3.0])], attrs={"axis": 0}, tags=["tie"])

for name, f in (("any", np.any), ("all", np.all)):
    for shape, axes in (([2, 3], [0]), ([2, 3], [1]), ([2, 3], [0, 1]), ([2, 0], [1])):
        x = np.arange(math.prod(shape)).reshape(shape, order="F") % 3 != (0 if name == "all" else 3)
        x = x if name == "all" else ~x
        out = f(x, axis=tuple(axes))
        record(name, [array(shape, "bool", x.flatten("F"))], array(np.shape(out), "bool", np.ravel(out, "F")),
               attrs={"axes": axes}, tags=["zero_extent" if 0 in shape else "ordinary"])
TABLE = np.array([[1.0, 3.0, 3.0, 0.0], [5.0, 0.0, NAN, 5.0]])
for name, f in (("argmax", np.argmax), ("argmin", np.argmin)):
    for axis in (0, 1):
        out = f(TABLE, axis=axis)
        record(name, [array([2, 4], "f64", TABLE.flatten("F"))], array(out.shape, "i64", out), attrs={"axis": axis},
               tags=["tie", "special"])


def scan(op, inputs, dtype, axis, forward, backward, tags, integers=False):
    shape = inputs[0].shape
    arrays = [array(shape, dtype, x.flatten("F")) for x in inputs]
    out = np.zeros_like(inputs[0])
    ct = (np.arange(out.size).reshape(shape, order="F") % 4 - 1.5).astype(out.dtype)
    if np.iscomplexobj(ct):
        ct = ct + 0.5j
    grads = [np.zeros_like(x) for x in inputs]
    for place in np.ndindex(*[1 if i == axis else n for i, n in enumerate(shape)]):
        line = tuple(slice(None) if i == axis else k for i, k in enumerate(place))
        out[line] = forward(*[x[line] for x in inputs])
        if not integers:
            for grad, g in zip(grads, backward(ct[line], out[line], *[x[line] for x in inputs])):
                grad[line] = g
    none = [None, None] if integers else [array(shape, dtype, ct.flatten("F")), [array(shape, dtype, g.flatten("F")) for g in grads]]
    record(op, arrays, array(shape, dtype, out.flatten("F")), *none, attrs={"axis": axis}, tags=tags)


def cumprod_back(ct, _, x):
    return [[sum(ct[i] * np.conj(np.prod(np.delete(x[: i + 1], k))) for i in range(k, len(x))) for k in range(len(x))]]


def recurrence(a, b):
    z = b.copy()
    for i in range(1, len(b)):
        z[i] = a[i] * z[i - 1] + b[i]
    return z


def recurrence_back(ct, z, a, _):
    gb = ct.copy()
    for i in range(len(ct) - 2, -1, -1):
        gb[i] = ct[i] + np.conj(a[i + 1]) * gb[i + 1]
    ga = np.zeros_like(gb)
    ga[1:] = gb[1:] * np.conj(z[:-1])
    return [ga, gb]


X = np.array([[0.5, -1.25, 2.0, 1.5], [1.0, 0.75, -0.5, 3.0], [-2.0, 1.0, 1.25, 0.25]])
ZEROS = np.array([[0.0, 2.0, 0.0, 1.5], [1.0, 0.0, -0.5, 3.0], [0.0, 0.0, 1.25, 0.25]])
for axis in (0, 1):
    scan("cumprod", [X], "f64", axis, np.cumprod, cumprod_back, ["ordinary"])
    scan("cumprod", [ZEROS], "f64", axis, np.cumprod, cumprod_back, ["zeros"])
    scan("cumprod", [X + 0.5j * ZEROS], "c64", axis, np.cumprod, cumprod_back, ["ordinary", "complex"])
    scan("linear_recurrence", [X, ZEROS], "f64", axis, recurrence, recurrence_back, ["ordinary"])
    scan("linear_recurrence", [X + 0.5j * ZEROS, ZEROS - 1j * X], "c64", axis, recurrence, recurrence_back, ["complex"])
scan("cumprod", [np.array([[2, 3, -1], [0, 4, 5]])], "i64", 1, np.cumprod, None, ["ordinary"], integers=True)
scan("linear_recurrence", [np.array([2, 3, -1]), np.array([1, 4, 5])], "i64", 0, recurrence, None, ["ordinary"], integers=True)
