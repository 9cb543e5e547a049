"""What an adversary is: the program that is read from the source of a generator.

:func:`~simulator.adversaries.program.reading.read` turns the source into instructions,
:func:`~simulator.adversaries.program.machine.machine_of` these into a state machine, and
:func:`~simulator.adversaries.program.compiling.step_of` the machine into a step over a menu, in
LLVM's assembly. What is not in the closed form is refused with its file, line and construct.
"""
