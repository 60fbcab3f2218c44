"""The errors Tidewise raises, one visible tree.

    TidewiseError             anything a caller may want to catch at once        exit code 1
      InputError              what the user gave is wrong; the text says how to mend it   2
        ConfigError           a cluster file
        RepositoryError       a model repository: application.toml, models, test data
        ProfileError          a profile file
        CaseError             a planning case
        TraceError            a demand trace
        QueryError            a query: wrong tensor name, shape, type or byte count
      EngineError             a model could not be loaded or run
      PlanError               a plan that contradicts itself or the cluster
      SolverError             a solver hung, crashed or refused; the last plan stays in force
      UnreachableError        another process did not answer

Expected outcomes (late, dropped, refused, infeasible) are values, never errors.
"""


class TidewiseError(Exception):
    """Anything Tidewise raises on purpose; the text is one sentence for a person."""


class InputError(TidewiseError):
    """What the user gave is wrong; the text names the offender and the fix."""


class ConfigError(InputError):
    """A cluster file is wrong."""


class RepositoryError(InputError):
    """A model repository is wrong."""


class ProfileError(InputError):
    """A profile file is wrong."""


class CaseError(InputError):
    """A planning case is wrong."""


class TraceError(InputError):
    """A demand trace is wrong."""


class QueryError(InputError):
    """A query does not fit the application's signature."""


class EngineError(TidewiseError):
    """A model could not be loaded or run."""


class PlanError(TidewiseError):
    """A plan contradicts itself or the cluster it is meant for."""


class SolverError(TidewiseError):
    """A solver hung, crashed or refused; the last plan stays in force."""


class UnreachableError(TidewiseError):
    """Another process did not answer."""


def reason(error: Exception) -> str:
    """Why a file could not be read or written, for a sentence that names the file already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
