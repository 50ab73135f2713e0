# By the service account's ID and the key's ID. The value cannot be imported; a
# rotation creates a new one.
terraform import agentyard_api_key.pipeline \
  sa_01hzy3v7k2m4n6p8q0r2s4t6v8/key_01hzy4a8m3n5p7q9r1s3t5v7w9
