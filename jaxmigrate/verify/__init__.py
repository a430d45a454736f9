"""Run a program before and after its migration and judge every edit by what the runs recorded (DESIGN section 6)."""
