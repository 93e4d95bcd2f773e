"""How the predictions of several experts become one."""
