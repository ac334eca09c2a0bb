"""Can an agent get something done on a site? Six tasks, driven through the accessibility tree of a fenced browser.

Nothing of this package is imported unless tasks are asked for. ``run.run_tasks`` is its door.
"""
