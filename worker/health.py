"""grpc.health.v1 of a worker process, always true to what its devices can do."""

from __future__ import annotations

from grpc_health.v1 import health_pb2
from grpc_health.v1._async import HealthServicer  # also health.aio, which its types do not know

from tidewise.worker.host import Host

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
PROTOCOL = "inference.GRPCInferenceService"


class Health:
    """The health service. "" and the protocol's name serve once a plan has been followed, until the process drains.

    Each application's name serves while some device has it in force.
    """

    def __init__(self, host: Host) -> None:
        self.servicer = HealthServicer()
        self._host = host
        self._known: set[str] = set()

    async def refresh(self) -> None:
        """Say what is true now."""
        host = self._host
        up = not host.draining and (host.ready or (host.ordered and host.settled))
        for service in ("", PROTOCOL):
            await self.servicer.set(service, SERVING if up else NOT_SERVING)
        self._known |= set(host.catalogue)
        for application in self._known:
            serving = host.ready and host.served(application)
            await self.servicer.set(application, SERVING if serving else NOT_SERVING)
