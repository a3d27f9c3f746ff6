# Everything sets itself up in .venv from pinned versions. `make demo` and `make test` are
# all that a newcomer needs.

PYTHON ?= python3
READY := .venv/.ready

.PHONY: demo test audit benchmarks clean

demo: $(READY)
	.venv/bin/deniable demo

test: $(READY)
	sh tests/install-programs.sh
	.venv/bin/ruff format --check --quiet .
	.venv/bin/ruff check --quiet .
	.venv/bin/mypy
	.venv/bin/pytest --numprocesses 2

audit: $(READY)
	.venv/bin/python -m analysis.audit --draws 10000000

benchmarks: $(READY)
	.venv/bin/pip install --quiet --requirement benchmarks/requirements.txt
	for name in variance draws mean coverage estimates memory ingest regression; do \
		.venv/bin/python -m benchmarks.$$name || exit 1; done

clean:
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check --requirement requirements.txt
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)
