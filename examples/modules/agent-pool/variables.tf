variable "name" {
  description = "Name of the pool and of everything in it. Changing it replaces the pool."
  type        = string

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,56}[a-z0-9])?$", var.name))
    error_message = "The name must be 1–58 lowercase letters, digits, and hyphens."
  }
}

variable "size" {
  description = "Number of computers."
  type        = number

  validation {
    condition     = var.size >= 1 && var.size <= 50
    error_message = "A pool has 1–50 computers. For more, create another pool."
  }
}

variable "repositories" {
  description = "Repositories to work on: the setup script of each, by URL. Adding or removing one replaces all computers."
  type        = map(string)

  validation {
    condition     = alltrue([for url in keys(var.repositories) : can(regex("^https://[^@]+$", url))])
    error_message = "A repository's URL must start with https:// and contain no credentials."
  }
}

variable "tasks" {
  description = "Tasks of agents: the text of each, by the name of its computer, such as builders-1."
  type        = map(string)
  default     = {}
}

variable "setup_script" {
  description = "Script that sets up the whole environment."
  type        = string
  default     = null
}

variable "members" {
  description = "Email addresses of the members who use the pool. Each gets the limit."
  type        = set(string)
  default     = []
}

variable "member_limit" {
  description = "How much each member can spend, in credits."
  type        = number
  default     = 10000000
}

variable "rotation_interval" {
  description = "Age at which an apply rotates the key, such as 30d."
  type        = string
  default     = "30d"
}

variable "key_lifetime" {
  description = "Age at which the key expires. Must leave time for an apply after the interval."
  type        = string
  default     = "60d"
}
