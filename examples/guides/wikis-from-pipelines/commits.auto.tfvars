commits = {
  "https://code.example/acme/api" = "2f1d0c9b8a7e6d5c4b3a29180f7e6d5c4b3a2918"
  "https://code.example/acme/web" = "9a8b7c6d5e4f30214354657687980a1b2c3d4e5f"
}
