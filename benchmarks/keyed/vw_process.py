"""VW's predictions of a stream, each before its target is learned: FOLDER OPTIONS."""

import sys
from pathlib import Path

import numpy as np
from vowpalwabbit import Workspace


def main(folder: Path, options: str) -> None:
    """Read in.npz, write out.npy."""
    stream = np.load(folder / "in.npz")
    model = Workspace(f"--quiet {options}")
    found = np.empty(len(stream["y"]))
    for t, (k, x, y) in enumerate(zip(stream["keys"], stream["x"], stream["y"], strict=True)):
        inputs = " ".join(f"x{i}:{v:.6g}" for i, v in enumerate(x))
        example = model.parse(f"{y:.9g} |k k{k} |x {inputs}")
        found[t] = model.predict(example)
        model.learn(example)
        model.finish_example(example)
    np.save(folder / "out.npy", found)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
