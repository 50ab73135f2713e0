tasks = {
  "APP-18" = "fix-login"
  "APP-19" = "new-menu"
}
