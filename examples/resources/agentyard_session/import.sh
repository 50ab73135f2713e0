# By the session's ID. cwd and the system prompt are adopted from the
# configuration.
terraform import agentyard_session.review 7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11
