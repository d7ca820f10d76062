"""What the specs of several tests of `explain` declare: people, a model, and three distributions."""

DECLARED = """
domain Person {
  sex   : category { female, male, other }
  grade : integer 0 .. 10
}
protected sex
label passed : boolean deserving yes
model admit : Person -> { no, yes }
  score = grade - 5
  yes when score >= 0
  favourable yes
distribution people over Person, passed
  empirical from "people.csv"
distribution learned over Person, passed
  independent given sex
  from "people.csv"
distribution everybody over Person
  uniform
"""
