"""The parts of the data analyst's session: one module per idea, read by `data_analyst.py` and by the first notebook."""
