"""A report as one page of HTML that stands alone: its blocks, its drawings and its style."""
