"""How a reason travels: the gRPC status of every answer that is not OK, the same from routers and workers."""

import grpc

from tidewise.core.outcome import Reason

CODES: dict[Reason, grpc.StatusCode] = {
    Reason.DEADLINE: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.HOPELESS: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.PREDICTED_LATE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.QUEUE_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.NO_WORKER: grpc.StatusCode.UNAVAILABLE,
    Reason.WORKER_LOST: grpc.StatusCode.UNAVAILABLE,
    Reason.DRAINING: grpc.StatusCode.UNAVAILABLE,
    Reason.UNKNOWN_APPLICATION: grpc.StatusCode.NOT_FOUND,
    Reason.UNKNOWN_VARIANT: grpc.StatusCode.NOT_FOUND,
    Reason.BAD_INPUT: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.CANCELLED: grpc.StatusCode.CANCELLED,
    Reason.ENGINE: grpc.StatusCode.INTERNAL,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
}
