"""Mixed-integer programs as fast deciders, with certificates that do not rest on a solver's tolerances."""
