from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApplicationSpec(_message.Message):
    __slots__ = ("toml", "accuracy_json", "digests")
    class DigestsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TOML_FIELD_NUMBER: _ClassVar[int]
    ACCURACY_JSON_FIELD_NUMBER: _ClassVar[int]
    DIGESTS_FIELD_NUMBER: _ClassVar[int]
    toml: str
    accuracy_json: str
    digests: _containers.ScalarMap[str, str]
    def __init__(self, toml: _Optional[str] = ..., accuracy_json: _Optional[str] = ..., digests: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Catalogue(_message.Message):
    __slots__ = ("applications",)
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    applications: _containers.RepeatedCompositeFieldContainer[ApplicationSpec]
    def __init__(self, applications: _Optional[_Iterable[_Union[ApplicationSpec, _Mapping]]] = ...) -> None: ...

class Warm(_message.Message):
    __slots__ = ("application", "variant", "digest")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    application: str
    variant: str
    digest: str
    def __init__(self, application: _Optional[str] = ..., variant: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...

class Unprofiled(_message.Message):
    __slots__ = ("application", "variant", "reason")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    application: str
    variant: str
    reason: str
    def __init__(self, application: _Optional[str] = ..., variant: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DeviceReport(_message.Message):
    __slots__ = ("name", "device_type", "memory_bytes", "warm", "applied_version", "refused_version", "refused_reason", "queued", "busy", "arrivals_per_s", "violations_per_s", "served", "draining", "stretch", "unprofiled")
    class ServedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEVICE_TYPE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    WARM_FIELD_NUMBER: _ClassVar[int]
    APPLIED_VERSION_FIELD_NUMBER: _ClassVar[int]
    REFUSED_VERSION_FIELD_NUMBER: _ClassVar[int]
    REFUSED_REASON_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    ARRIVALS_PER_S_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_PER_S_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    STRETCH_FIELD_NUMBER: _ClassVar[int]
    UNPROFILED_FIELD_NUMBER: _ClassVar[int]
    name: str
    device_type: str
    memory_bytes: int
    warm: _containers.RepeatedCompositeFieldContainer[Warm]
    applied_version: int
    refused_version: int
    refused_reason: str
    queued: int
    busy: bool
    arrivals_per_s: float
    violations_per_s: float
    served: _containers.ScalarMap[str, int]
    draining: bool
    stretch: float
    unprofiled: _containers.RepeatedCompositeFieldContainer[Unprofiled]
    def __init__(self, name: _Optional[str] = ..., device_type: _Optional[str] = ..., memory_bytes: _Optional[int] = ..., warm: _Optional[_Iterable[_Union[Warm, _Mapping]]] = ..., applied_version: _Optional[int] = ..., refused_version: _Optional[int] = ..., refused_reason: _Optional[str] = ..., queued: _Optional[int] = ..., busy: _Optional[bool] = ..., arrivals_per_s: _Optional[float] = ..., violations_per_s: _Optional[float] = ..., served: _Optional[_Mapping[str, int]] = ..., draining: _Optional[bool] = ..., stretch: _Optional[float] = ..., unprofiled: _Optional[_Iterable[_Union[Unprofiled, _Mapping]]] = ...) -> None: ...

class WorkerReport(_message.Message):
    __slots__ = ("process", "address", "devices", "profiles")
    PROCESS_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    process: str
    address: str
    devices: _containers.RepeatedCompositeFieldContainer[DeviceReport]
    profiles: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, process: _Optional[str] = ..., address: _Optional[str] = ..., devices: _Optional[_Iterable[_Union[DeviceReport, _Mapping]]] = ..., profiles: _Optional[_Iterable[str]] = ...) -> None: ...

class Assignment(_message.Message):
    __slots__ = ("worker", "application", "warm", "ceiling", "share", "capacity")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    WARM_FIELD_NUMBER: _ClassVar[int]
    CEILING_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    worker: str
    application: str
    warm: _containers.RepeatedScalarFieldContainer[str]
    ceiling: str
    share: float
    capacity: float
    def __init__(self, worker: _Optional[str] = ..., application: _Optional[str] = ..., warm: _Optional[_Iterable[str]] = ..., ceiling: _Optional[str] = ..., share: _Optional[float] = ..., capacity: _Optional[float] = ...) -> None: ...

class Measure(_message.Message):
    __slots__ = ("device", "application", "variants")
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    VARIANTS_FIELD_NUMBER: _ClassVar[int]
    device: str
    application: str
    variants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, device: _Optional[str] = ..., application: _Optional[str] = ..., variants: _Optional[_Iterable[str]] = ...) -> None: ...

class WorkerOrder(_message.Message):
    __slots__ = ("plan_version", "catalogue", "assignments", "measures", "profiles")
    PLAN_VERSION_FIELD_NUMBER: _ClassVar[int]
    CATALOGUE_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    MEASURES_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    plan_version: int
    catalogue: Catalogue
    assignments: _containers.RepeatedCompositeFieldContainer[Assignment]
    measures: _containers.RepeatedCompositeFieldContainer[Measure]
    profiles: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, plan_version: _Optional[int] = ..., catalogue: _Optional[_Union[Catalogue, _Mapping]] = ..., assignments: _Optional[_Iterable[_Union[Assignment, _Mapping]]] = ..., measures: _Optional[_Iterable[_Union[Measure, _Mapping]]] = ..., profiles: _Optional[_Iterable[str]] = ...) -> None: ...

class Tally(_message.Message):
    __slots__ = ("application", "seconds", "arrivals", "outcomes", "variants")
    class OutcomesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class VariantsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    ARRIVALS_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    VARIANTS_FIELD_NUMBER: _ClassVar[int]
    application: str
    seconds: float
    arrivals: int
    outcomes: _containers.ScalarMap[str, int]
    variants: _containers.ScalarMap[str, int]
    def __init__(self, application: _Optional[str] = ..., seconds: _Optional[float] = ..., arrivals: _Optional[int] = ..., outcomes: _Optional[_Mapping[str, int]] = ..., variants: _Optional[_Mapping[str, int]] = ...) -> None: ...

class RouterReport(_message.Message):
    __slots__ = ("router", "address", "applied_revision", "tallies")
    ROUTER_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    APPLIED_REVISION_FIELD_NUMBER: _ClassVar[int]
    TALLIES_FIELD_NUMBER: _ClassVar[int]
    router: str
    address: str
    applied_revision: int
    tallies: _containers.RepeatedCompositeFieldContainer[Tally]
    def __init__(self, router: _Optional[str] = ..., address: _Optional[str] = ..., applied_revision: _Optional[int] = ..., tallies: _Optional[_Iterable[_Union[Tally, _Mapping]]] = ...) -> None: ...

class Route(_message.Message):
    __slots__ = ("worker", "address", "application", "variants", "share", "capacity", "fastest_s")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    VARIANTS_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    FASTEST_S_FIELD_NUMBER: _ClassVar[int]
    worker: str
    address: str
    application: str
    variants: _containers.RepeatedScalarFieldContainer[str]
    share: float
    capacity: float
    fastest_s: float
    def __init__(self, worker: _Optional[str] = ..., address: _Optional[str] = ..., application: _Optional[str] = ..., variants: _Optional[_Iterable[str]] = ..., share: _Optional[float] = ..., capacity: _Optional[float] = ..., fastest_s: _Optional[float] = ...) -> None: ...

class RoutingSnapshot(_message.Message):
    __slots__ = ("revision", "plan_version", "catalogue", "routes", "max_message_bytes", "routing")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    PLAN_VERSION_FIELD_NUMBER: _ClassVar[int]
    CATALOGUE_FIELD_NUMBER: _ClassVar[int]
    ROUTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ROUTING_FIELD_NUMBER: _ClassVar[int]
    revision: int
    plan_version: int
    catalogue: Catalogue
    routes: _containers.RepeatedCompositeFieldContainer[Route]
    max_message_bytes: int
    routing: str
    def __init__(self, revision: _Optional[int] = ..., plan_version: _Optional[int] = ..., catalogue: _Optional[_Union[Catalogue, _Mapping]] = ..., routes: _Optional[_Iterable[_Union[Route, _Mapping]]] = ..., max_message_bytes: _Optional[int] = ..., routing: _Optional[str] = ...) -> None: ...

class ApplyChunk(_message.Message):
    __slots__ = ("application", "path", "data")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    application: str
    path: str
    data: bytes
    def __init__(self, application: _Optional[str] = ..., path: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class ApplyReply(_message.Message):
    __slots__ = ("replaced", "variants")
    REPLACED_FIELD_NUMBER: _ClassVar[int]
    VARIANTS_FIELD_NUMBER: _ClassVar[int]
    replaced: bool
    variants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, replaced: _Optional[bool] = ..., variants: _Optional[_Iterable[str]] = ...) -> None: ...

class RemoveRequest(_message.Message):
    __slots__ = ("application",)
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    application: str
    def __init__(self, application: _Optional[str] = ...) -> None: ...

class RemoveReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FetchRequest(_message.Message):
    __slots__ = ("application", "path", "digest")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    application: str
    path: str
    digest: str
    def __init__(self, application: _Optional[str] = ..., path: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...

class FileChunk(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class StatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("interval_s",)
    INTERVAL_S_FIELD_NUMBER: _ClassVar[int]
    interval_s: float
    def __init__(self, interval_s: _Optional[float] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("version", "trigger", "status", "phi", "objective", "bound", "gap", "solve_s", "demand", "served", "assignments")
    class DemandEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class ServedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PHI_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    SOLVE_S_FIELD_NUMBER: _ClassVar[int]
    DEMAND_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    version: int
    trigger: str
    status: str
    phi: float
    objective: float
    bound: float
    gap: float
    solve_s: float
    demand: _containers.ScalarMap[str, float]
    served: _containers.ScalarMap[str, float]
    assignments: _containers.RepeatedCompositeFieldContainer[Assignment]
    def __init__(self, version: _Optional[int] = ..., trigger: _Optional[str] = ..., status: _Optional[str] = ..., phi: _Optional[float] = ..., objective: _Optional[float] = ..., bound: _Optional[float] = ..., gap: _Optional[float] = ..., solve_s: _Optional[float] = ..., demand: _Optional[_Mapping[str, float]] = ..., served: _Optional[_Mapping[str, float]] = ..., assignments: _Optional[_Iterable[_Union[Assignment, _Mapping]]] = ...) -> None: ...

class WorkerStatus(_message.Message):
    __slots__ = ("device", "address", "connected")
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_FIELD_NUMBER: _ClassVar[int]
    device: DeviceReport
    address: str
    connected: bool
    def __init__(self, device: _Optional[_Union[DeviceReport, _Mapping]] = ..., address: _Optional[str] = ..., connected: _Optional[bool] = ...) -> None: ...

class RouterStatus(_message.Message):
    __slots__ = ("router", "address", "applied_revision", "connected")
    ROUTER_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    APPLIED_REVISION_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_FIELD_NUMBER: _ClassVar[int]
    router: str
    address: str
    applied_revision: int
    connected: bool
    def __init__(self, router: _Optional[str] = ..., address: _Optional[str] = ..., applied_revision: _Optional[int] = ..., connected: _Optional[bool] = ...) -> None: ...

class ApplicationStatus(_message.Message):
    __slots__ = ("spec", "demand_qps", "dispersion", "best_accuracy", "planned_accuracy")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    DEMAND_QPS_FIELD_NUMBER: _ClassVar[int]
    DISPERSION_FIELD_NUMBER: _ClassVar[int]
    BEST_ACCURACY_FIELD_NUMBER: _ClassVar[int]
    PLANNED_ACCURACY_FIELD_NUMBER: _ClassVar[int]
    spec: ApplicationSpec
    demand_qps: float
    dispersion: float
    best_accuracy: float
    planned_accuracy: float
    def __init__(self, spec: _Optional[_Union[ApplicationSpec, _Mapping]] = ..., demand_qps: _Optional[float] = ..., dispersion: _Optional[float] = ..., best_accuracy: _Optional[float] = ..., planned_accuracy: _Optional[float] = ...) -> None: ...

class StatusReply(_message.Message):
    __slots__ = ("plan", "revision", "workers", "routers", "applications", "uptime_s", "recent", "last_failure")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    ROUTERS_FIELD_NUMBER: _ClassVar[int]
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    UPTIME_S_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    LAST_FAILURE_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    revision: int
    workers: _containers.RepeatedCompositeFieldContainer[WorkerStatus]
    routers: _containers.RepeatedCompositeFieldContainer[RouterStatus]
    applications: _containers.RepeatedCompositeFieldContainer[ApplicationStatus]
    uptime_s: float
    recent: _containers.RepeatedCompositeFieldContainer[Plan]
    last_failure: str
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping]] = ..., revision: _Optional[int] = ..., workers: _Optional[_Iterable[_Union[WorkerStatus, _Mapping]]] = ..., routers: _Optional[_Iterable[_Union[RouterStatus, _Mapping]]] = ..., applications: _Optional[_Iterable[_Union[ApplicationStatus, _Mapping]]] = ..., uptime_s: _Optional[float] = ..., recent: _Optional[_Iterable[_Union[Plan, _Mapping]]] = ..., last_failure: _Optional[str] = ...) -> None: ...
