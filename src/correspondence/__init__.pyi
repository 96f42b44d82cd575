"""Where the public names live. `__init__.py` reads this file and imports a name when it is first used."""

from . import datasets as datasets
from . import distributed as distributed
from . import plot as plot
from ._util.user_warnings import (
    CorrespondenceWarning as CorrespondenceWarning,
)
from ._util.user_warnings import (
    FewerComponents as FewerComponents,
)
from ._util.user_warnings import (
    Inexact as Inexact,
)
from ._util.user_warnings import (
    LeftOut as LeftOut,
)
from ._util.user_warnings import (
    NearlyCollinear as NearlyCollinear,
)
from ._util.user_warnings import (
    NotHeldOut as NotHeldOut,
)
from ._util.user_warnings import (
    NothingFound as NothingFound,
)
from ._util.user_warnings import (
    UncertainInterval as UncertainInterval,
)
from .association.associate import associations as associations
from .classifiers.agreement import compare_classifiers as compare_classifiers
from .classifiers.calibration import Calibration as Calibration
from .classifiers.estimator import ClassifierCA as ClassifierCA
from .core.asymmetric import AsymmetricDecomposition as AsymmetricDecomposition
from .core.decomposition import Decomposition as Decomposition
from .core.decomposition import load as load
from .core.moments import Moments as Moments
from .data.counting import count_pairs as count_pairs
from .data.counting import indicator_table as indicator_table
from .data.pairs.pairs import Pairs as Pairs
from .data.table import Table as Table
from .describe.axes import describe_axes as describe_axes
from .describe.clusters.estimator import Clusters as Clusters
from .describe.columns import describe_columns as describe_columns
from .describe.groups import describe_groups as describe_groups
from .describe.structure import structure as structure
from .estimators.ace import ACE as ACE
from .estimators.ca.estimator import CA as CA
from .estimators.ca.estimator import Chi2Test as Chi2Test
from .estimators.cca import CCA as CCA
from .estimators.kernel import KernelCCA as KernelCCA
from .estimators.many.mca import MCA as MCA
from .estimators.many.mixed import MixedCA as MixedCA
from .estimators.pice.estimator import PICE as PICE
from .page import explore as explore
from .page.explorer_page import ExplorerPage as ExplorerPage
from .page.interactive import widget as widget
from .recording.recorder import TrainingRecorder as TrainingRecorder
from .results.anova import Anova as Anova
from .results.associations import Associations as Associations
from .results.asymmetric import AsymmetricPoints as AsymmetricPoints
from .results.asymmetric import HeldOutTau as HeldOutTau
from .results.asymmetric import TauTest as TauTest
from .results.axis_tests import AxisTests as AxisTests
from .results.class_similarity import ClassSimilarity as ClassSimilarity
from .results.clusters import ClusterAgreement as ClusterAgreement
from .results.clusters import ClusterMembers as ClusterMembers
from .results.column_evidence import ColumnsDimension as ColumnsDimension
from .results.column_evidence import ColumnsHeldOut as ColumnsHeldOut
from .results.column_table import ColumnTable as ColumnTable
from .results.comparison import ClassifierComparison as ClassifierComparison
from .results.comparison import Comparison as Comparison
from .results.component_tests import LatentDimension as LatentDimension
from .results.component_tests import PermutationTest as PermutationTest
from .results.component_tests import PicIntervals as PicIntervals
from .results.description_table import DescriptionTable as DescriptionTable
from .results.descriptions import GroupsDescription as GroupsDescription
from .results.evidence import CrossFit as CrossFit
from .results.evidence import HeldOut as HeldOut
from .results.faithfulness import Faithfulness as Faithfulness
from .results.group_relations import GroupRelations as GroupRelations
from .results.matches import Confusing as Confusing
from .results.matches import MatchCalibration as MatchCalibration
from .results.matches import Matches as Matches
from .results.ordered_points import OrderedPoints as OrderedPoints
from .results.ordination_scores import ResidualAxes as ResidualAxes
from .results.ordination_scores import Scores as Scores
from .results.partition import Partition as Partition
from .results.points import ActiveNumbers as ActiveNumbers
from .results.points import Bootstrap as Bootstrap
from .results.points import CategoryMeans as CategoryMeans
from .results.points import JointAnswers as JointAnswers
from .results.points import Points as Points
from .results.points import SupplementaryNumbers as SupplementaryNumbers
from .results.score_descriptions import ScoresDescription as ScoresDescription
from .results.structure import Structure as Structure
from .results.timeline import Timeline as Timeline
from .results.timeline import Transition as Transition
from .results.words import WordsDescription as WordsDescription
from .search.cross_modal import CrossModalIndex as CrossModalIndex
from .selection.comparing import compare as compare
from .selection.decompose import decompose as decompose
from .validation.axis_tests import axis_tests as axis_tests
from .validation.crossfit import crossfit as crossfit
from .validation.intervals import pic_intervals as pic_intervals
from .validation.latent_dimension import latent_dimension as latent_dimension
from .validation.permutation import permutation_test as permutation_test

__version__: str
