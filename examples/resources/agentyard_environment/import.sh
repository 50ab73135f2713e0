# By the environment's ID.
terraform import agentyard_environment.app env_01hzy5b9n4q6r8s0t2v4w6x8y0
