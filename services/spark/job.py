"""The file that `spark-submit` runs; the job itself is `iln_stream.spark.job`."""

import sys

from iln_stream.spark.job import main

if __name__ == "__main__":
    sys.exit(main())
