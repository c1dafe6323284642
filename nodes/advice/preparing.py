"""The nodes that are put behind data which are not prepared."""

from engine.catalogue.traits import Preparation
from engine.shapes.node_rules import WAYS, Way
from nodes.data.rows import INCOMPLETE, REPEATING, BalanceClasses, LeaveOutNumbers, LeaveOutRows
from nodes.data.splitting import REPEAT
from nodes.transforms import Impute, Standardise

WAYS |= {
    Preparation.SCALED: Way(Standardise.type_id, "standardised", parameter="over"),
    Preparation.FILLED: Way(Impute.type_id, "filled", {"by": "median"}),
    Preparation.WHOLE: Way(LeaveOutRows.type_id, "whole rows", {"that": INCOMPLETE}),
    Preparation.DISTINCT: Way(LeaveOutRows.type_id, "distinct", {"that": REPEATING}),
    Preparation.VARYING: Way(LeaveOutNumbers.type_id, "varying", parameter="which"),
    Preparation.BALANCED: Way(BalanceClasses.type_id, "balanced", {"way": REPEAT}),
}
