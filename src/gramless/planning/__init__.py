"""Which method: ask each what it would cost, take the cheapest that serves."""

from gramless.planning.machine import Machine
from gramless.planning.plan import Method, Plan, carried_on, make_plan, methods

__all__ = ["Machine", "Method", "Plan", "carried_on", "make_plan", "methods"]
