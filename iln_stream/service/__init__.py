"""Settings, and the service that they configure.

Where to add

- a setting: `settings.py`, and its group in `setting_groups.py`; a check that several settings fit
  together: `checks.py`;
- a learner, also a user's own, or features: `learners.py`; a user's own listener: `service.py`;
- a source or sink: a scheme in `iln_stream.streams`; its address is read in `addresses.py`;
- an HTTP route: `routes` of the `HttpServer` in `service.py`;
- a metric: in `metrics()` of the object that has the number; `export` those of a new kind of object
  in `worker.py`;
- a listener that every run has: `worker.py`.

Modules, from the whole to its parts:

- `worker_processes.py`: runs a service in each of several processes, and serves HTTP for all;
  `worker_progress.py`: logs how far they are;
- `service.py`: runs one worker per learner, and serves HTTP;
- `worker.py`: one learner with its source, outputs, checkpoint and listeners;
- `assembly.py`: assembles the loop of a learner, also for files, a rebuild and new challengers;
- `prediction.py`: predicts a stream with a learner that does not learn;
- `rebuild.py`: learns the log again to replace snapshots;
- `read_again.py`: which records a rebuild has read again, and no replay sends;
- `warm_start.py`: lets new learners learn files before their log; `history.py`: these files;
- `promoting.py`: appends the command that makes a contender the champion;
- `readers.py`: which partitions each learner reads, and its seed;
- `recovery.py`: restores a learner from its snapshots, and saves new ones;
- `takeover.py`: whether a learner may resume from another's snapshots;
- `arrival_order.py`: records the order in which several partitions were learned;
- `published.py`: publishes versions of a learner;
- `outputs.py`: opens the sinks of predictions and dead letters;
- `addresses.py`: the streams that the settings name;
- `learners.py`: builds the learner that the settings name;
- `challengers.py`: the contenders that the settings describe; `challenger_changes.py`: those that
  come and go between runs; `challenger_warm_up.py`: lets a new one learn the log's history;
- `weights.py`: weighs events for learners that take weights;
- `details.py`: computes intervals for predictions;
- `model_version.py`: the model's name and version in predictions;
- `checks.py`: checks that the settings fit together;
- `settings.py`: every setting; `setting_groups.py`: settings by subject;
- `serving.py`: starts the HTTP server that the settings describe;
- `http.py`: /metrics, /ready, /health and further routes;
- `warming.py`: compiles what a learner needs, before it needs it; `warmings.py`: what all of a
  contest need;
- `signals.py`: stops on SIGINT and SIGTERM.
"""

from iln_stream.service.decoding import build_decoder, parser_of
from iln_stream.service.learners import BOUNDED, build_learner, pool, shrinking_gradient, task_of
from iln_stream.service.prediction import predict, promote
from iln_stream.service.rebuild import rebuild
from iln_stream.service.service import Service
from iln_stream.service.settings import GROUP_OF, SETTING_GROUPS, Settings
from iln_stream.service.streams import (
    dead_letters_address,
    output_stream,
    source_stream,
    stream_options,
)
from iln_stream.service.warm_start import warm_start
from iln_stream.service.worker_processes import WorkerJob, WorkerProcesses
from iln_stream.settings import ENV_PREFIX, SettingsError

__all__ = [
    "BOUNDED",
    "ENV_PREFIX",
    "GROUP_OF",
    "SETTING_GROUPS",
    "Service",
    "Settings",
    "SettingsError",
    "WorkerJob",
    "WorkerProcesses",
    "build_decoder",
    "build_learner",
    "dead_letters_address",
    "output_stream",
    "parser_of",
    "pool",
    "predict",
    "promote",
    "rebuild",
    "shrinking_gradient",
    "source_stream",
    "stream_options",
    "task_of",
    "warm_start",
]
