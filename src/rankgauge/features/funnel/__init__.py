"""The funnel: what each stage of a pipeline keeps of what is relevant, and where it is lost."""
