"""AROUND: schedules, retries, workflows and alerts. Empty until the orchestration issue."""
