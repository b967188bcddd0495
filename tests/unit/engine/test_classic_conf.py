from ematix_flow.engine.spark.classic_conf import ClassicConf
from ematix_flow.engine.spark.sizing import JAVA_OPTIONS


def conf(options: str) -> ClassicConf:
    return ClassicConf(master="local[*]", values={JAVA_OPTIONS: options}, session={})


def test_where_spark_leaves_its_litter_does_not_matter_even_with_blanks_in_it():
    first = conf('-Dx=1 -Dderby.system.home="/one folder/derby"')
    second = conf('-Dx=1 -Dderby.system.home="/another one/derby"')
    assert first.serves(second)
    assert not first.serves(conf('-Dx=2 -Dderby.system.home="/one folder/derby"'))
