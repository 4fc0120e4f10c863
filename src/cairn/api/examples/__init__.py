"""Examples for the OpenAPI document: one small story, with a module for each noun."""
