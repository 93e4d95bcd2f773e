"""A frozen network as an ONNX graph."""

import math
from typing import TYPE_CHECKING

import numpy as np
from onnx import NodeProto, TensorProto, checker, helper, numpy_helper

from iln_stream.state import encode_name

if TYPE_CHECKING:
    from iln_stream.learners.frozen.network import FrozenNetwork


_OPERATORS = {"cos": "Cos", "erf": "Erf", "tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}

_OPSET, _IR_VERSION = 17, 8
"""Versions of 2022, so that older runtimes can load the model."""


def onnx_model(network: "FrozenNetwork") -> bytes:
    """Return the serialised model: x (n, d) to y (n,), both double."""
    constants = {
        "centre": network.centre,
        "deviation": network.deviation,
        "lowest_z": np.float64(-network.clip),
        "highest_z": np.float64(network.clip),
        "omega": network.omega.T,
        "b": network.b,
        "weights": network.weights,
        "lowest_p": np.float64(-network.bound),
        "highest_p": np.float64(network.bound),
        "offset": np.float64(network.offset),
        "gain": np.float64(network.gain),
    }
    node = helper.make_node
    nodes = [
        node("IsNaN", ["x"], ["absent"]),
        node("Where", ["absent", "centre", "x"], ["present"]),
        node("Sub", ["present", "centre"], ["centred"]),
        node("Div", ["centred", "deviation"], ["scaled"]),
        node("Clip", ["scaled", "lowest_z", "highest_z"], ["z"]),
    ]
    inner = "z"
    if network.radius is not None:
        constants["radius"] = np.float64(network.radius)
        constants["root_2"] = np.float64(math.sqrt(2.0))
        nodes += [
            node("ReduceL2", ["z"], ["norm"], axes=[1], keepdims=1),
            node("Max", ["norm", "radius"], ["longest"]),
            node("Mul", ["longest", "root_2"], ["length"]),
            node("Div", ["z", "length"], ["in_ball"]),
        ]
        inner = "in_ball"
    nodes += [
        node("MatMul", [inner, "omega"], ["products"]),
        node("Add", ["products", "b"], ["a"]),
        *_activation(network.activation),
        node("MatMul", ["psi", "weights"], ["sum"]),
        node("Clip", ["sum", "lowest_p", "highest_p"], ["p"]),
        node("Mul", ["p", "gain"], ["deviations"]),
        node("Add", ["deviations", "offset"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "iln_stream",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["n", len(network.names)])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["n"])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="iln_stream",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    names = f"[{', '.join(map(encode_name, network.names))}]"
    helper.set_model_props(model, {"names": names})
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def _activation(activation: str) -> list[NodeProto]:
    """The nodes from a to psi."""
    operator = _OPERATORS[activation]
    if activation != "erf":
        return [helper.make_node(operator, ["a"], ["psi"])]
    # Runtimes have erf in single precision only.
    return [
        helper.make_node("Cast", ["a"], ["a_single"], to=TensorProto.FLOAT),
        helper.make_node(operator, ["a_single"], ["psi_single"]),
        helper.make_node("Cast", ["psi_single"], ["psi"], to=TensorProto.DOUBLE),
    ]
