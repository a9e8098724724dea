"""Runs that outlive their process, and batches that many workers share, on Postgres."""
