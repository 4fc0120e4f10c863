"""Read models: what people and programs are shown. Field names are those of the HTTP answers."""
